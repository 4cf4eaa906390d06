package minibus.testcontainers;

import java.util.stream.IntStream;
import minibus.MinibusServer;
import org.testcontainers.azure.ServiceBusEmulatorContainer;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * Minibus in a container, with the class of Testcontainers for Microsoft's emulator, and without its SQL Server.
 * Spring Boot's {@code @ServiceConnection} takes it with {@code spring-cloud-azure-testcontainers}.
 *
 * <pre>{@code
 * @Container
 * @ServiceConnection
 * static MinibusContainer bus = new MinibusContainer();
 * }</pre>
 */
public class MinibusContainer extends ServiceBusEmulatorContainer {
    private static final String IMAGE = "ghcr.io/OWNER/minibus";
    private static final String EMULATOR = "mcr.microsoft.com/azure-messaging/servicebus-emulator";
    private static final int AMQP = 5672;
    private static final int HTTP = 5300;
    private static final int FIRST = 5700; // of the ports of further namespaces
    private static final int NAMESPACES = 20;

    /**
     * Makes a container of the image that the variable {@code MINIBUS_IMAGE} names; without it, of that of this
     * version.
     */
    public MinibusContainer() {
        this(System.getenv().getOrDefault("MINIBUS_IMAGE", IMAGE + ":" + version()));
    }

    /** Makes a container of an image, such as one that you have built. */
    public MinibusContainer(String image) {
        super(DockerImageName.parse(image).asCompatibleSubstituteFor(EMULATOR));
        addExposedPorts(AMQP, HTTP);
        addExposedPorts(IntStream.range(FIRST, FIRST + NAMESPACES).toArray());
    }

    private static String version() {
        var version = MinibusContainer.class.getPackage().getImplementationVersion();
        return version == null ? "latest" : version;
    }

    /** The original demands a SQL Server here. */
    @Override
    protected void configure() {
    }

    /** Sets the Config.json with the entities. */
    @Override
    public MinibusContainer withConfig(Transferable config) {
        super.withConfig(config);
        return this;
    }

    /** Steers the server in the container, which must run. */
    public MinibusServer server() {
        return MinibusServer.connect(getConnectionString(), this::getMappedPort);
    }
}
