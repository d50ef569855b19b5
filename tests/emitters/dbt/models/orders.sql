select order_id, customer_id, store, cast(amount as decimal(12, 2)) as amount, ordered_at
from {{ ref('raw_orders') }}
