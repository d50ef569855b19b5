import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/** A day of a shop: writes a file, sums it up, and fails to read a shop's name as a number. */
public class Revenue {
  // The listener sends on threads of its own.
  private static final int SENT_MILLISECONDS = 3000;

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = GlobalConfiguration.loadConfiguration(".");
    TableEnvironment flink =
        TableEnvironment.create(
            EnvironmentSettings.newInstance().inBatchMode().withConfiguration(configuration).build());
    flink.executeSql("CREATE TABLE orders (id BIGINT, store STRING, amount DOUBLE) " + files("orders"));
    flink.executeSql("CREATE TABLE revenue (store STRING, amount DOUBLE) " + files("revenue"));
    flink.executeSql("INSERT INTO orders VALUES (1, 'Basel', 12.5), (2, 'Bern', 30.0)").await();
    flink.executeSql("INSERT INTO revenue SELECT store, SUM(amount) FROM orders GROUP BY store").await();
    try {
      flink.executeSql("INSERT INTO revenue SELECT store, CAST(store AS DOUBLE) FROM orders").await();
    } catch (Exception exception) {
      System.out.println("failed: " + exception.getClass().getSimpleName());
    }
    Thread.sleep(SENT_MILLISECONDS);
  }

  private static String files(String name) {
    return "WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = 'lake/" + name + "')";
  }
}
