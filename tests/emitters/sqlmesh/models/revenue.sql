MODEL (name sales.revenue, kind FULL, audits (not_null(columns := (store))));
SELECT store, SUM(amount) AS revenue FROM sales.orders GROUP BY store
