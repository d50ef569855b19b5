{{ config(materialized='table') }}
select ordered_at as day, store, count(*) as orders, sum(amount) as revenue
from {{ ref('orders') }}
group by 1, 2
