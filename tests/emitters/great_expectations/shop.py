"""The shop's orders, in SQLite: what both generations of Great Expectations check."""

import sqlite3
from pathlib import Path

URL = f"sqlite:///{Path('shop.db').absolute()}"

# Order 4 has no store.
ORDERS = [
    (1, "Basel", 19.9, "2026-11-01"),
    (2, "Zürich", 45, "2026-11-01"),
    (3, "Basel", 7.25, "2026-11-02"),
    (4, None, 12, "2026-11-02"),
]


def fill() -> None:
    """Make the table anew, in the working directory."""
    Path("shop.db").unlink(missing_ok=True)
    with sqlite3.connect("shop.db") as connection:
        connection.execute("create table orders (order_id integer, store text, amount numeric, ordered_at text)")
        connection.executemany("insert into orders values (?, ?, ?, ?)", ORDERS)
