MODEL (name sales.orders, kind FULL);
SELECT * FROM (VALUES (1, 'Basel', 19.90), (2, 'Zürich', 45.00)) AS raw (order_id, store, amount)
