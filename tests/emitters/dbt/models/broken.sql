{{ config(enabled=var('broken', false)) }}
select no_such_column from {{ ref('orders') }}
