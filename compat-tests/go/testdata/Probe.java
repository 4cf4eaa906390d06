import java.net.HttpURLConnection;
import java.net.URL;

// Asks each URL of the command line, with the trust store that the system properties name, and prints the statuses.
public class Probe {
    public static void main(String[] urls) {
        for (String url : urls) {
            try {
                HttpURLConnection c = (HttpURLConnection) new URL(url).openConnection();
                System.out.println(url + " " + c.getResponseCode());
            } catch (Exception e) {
                System.out.println(url + " " + e);
            }
        }
    }
}
