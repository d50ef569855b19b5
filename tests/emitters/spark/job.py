"""A day of a shop: writes, reads, joins, sums up, and writes Parquet; with the argument `fail`, a write that breaks."""

import os
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

spark = SparkSession.builder.appName("daily revenue").getOrCreate()
stores = spark.createDataFrame([("Basel", "north"), ("Bern", "west")], "store string, region string")
stores.write.mode("overwrite").parquet("lake/stores")
orders = spark.createDataFrame([(1, "Basel", 12.5), (2, "Bern", 30.0)], "id bigint, store string, amount double")
orders.write.mode("overwrite").parquet("lake/orders")

joined = spark.read.parquet("lake/orders").join(spark.read.parquet("lake/stores"), "store")
joined.groupBy("region").agg(f.sum("amount").alias("revenue")).write.mode("overwrite").parquet("lake/revenue")

# Of an RDD the listener knows less, and says so in events of another shape.
spark.sparkContext.parallelize(range(10)).map(str).saveAsTextFile("lake/numbers")

try:
    if sys.argv[1:] == ["fail"]:
        broken = spark.read.parquet("lake/orders").withColumn("amount", f.raise_error(f.col("store")))
        broken.write.mode("overwrite").parquet("lake/broken")
finally:
    spark.stop()
    # What a transport still holds when the driver ends is lost.
    time.sleep(float(os.environ.get("LINGER_SECONDS", "0")))
