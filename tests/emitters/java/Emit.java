import io.openlineage.client.Clients;
import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineageClient;
import java.net.URI;
import java.time.ZonedDateTime;
import java.util.UUID;

/**
 * Emits as many events as the first argument says, by openlineage.yml, and prints what the client made of each. A second
 * one is how many milliseconds it lives on.
 */
public class Emit {
  public static void main(String[] arguments) throws Exception {
    OpenLineage openLineage = new OpenLineage(URI.create("https://example.com/emit"));
    OpenLineageClient client = Clients.newClient();
    for (int number = 0; number < Integer.parseInt(arguments[0]); number++) {
      OpenLineage.RunEvent event =
          openLineage
              .newRunEventBuilder()
              .eventType(OpenLineage.RunEvent.EventType.COMPLETE)
              .eventTime(ZonedDateTime.now())
              .run(openLineage.newRunBuilder().runId(UUID.randomUUID()).build())
              .job(openLineage.newJobBuilder().namespace("retail").name("job-" + number + "-é").build())
              .build();
      long started = System.nanoTime();
      String end = emit(client, event);
      System.out.println("emit: " + end + " " + (System.nanoTime() - started) / 1_000_000);
    }
    if (arguments.length > 1) {
      Thread.sleep(Long.parseLong(arguments[1]));
      // The Kinesis producer library's threads would live on for ever.
      System.exit(0);
    }
    // Clients before 1.23 cannot be closed.
    if ((Object) client instanceof AutoCloseable) {
      ((AutoCloseable) (Object) client).close();
    }
  }

  private static String emit(OpenLineageClient client, OpenLineage.RunEvent event) {
    try {
      client.emit(event);
      return "returned";
    } catch (Exception exception) {
      return exception.getClass().getSimpleName();
    }
  }
}
