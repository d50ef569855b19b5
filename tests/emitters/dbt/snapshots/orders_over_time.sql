{% snapshot orders_over_time %}
{{ config(target_schema='sales', unique_key='order_id', strategy='check', check_cols=['store', 'amount']) }}
select * from {{ ref('orders') }}
{% endsnapshot %}
