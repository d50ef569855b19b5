import io.openlineage.client.Clients;
import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineageClient;
import java.net.URI;
import java.time.ZonedDateTime;
import java.util.UUID;

/** Emits as many events as the first argument says, by openlineage.yml, and prints what the client made of each. */
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
    client.close();
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
