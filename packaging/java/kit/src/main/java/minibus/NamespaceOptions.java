package minibus;

/** What a namespace is made with: {@code server.namespace(o -> o.queues("orders").limits("premium"))}. */
public final class NamespaceOptions extends Declaration<NamespaceOptions> {
    String name;
    String limits;

    NamespaceOptions() {
    }

    /** Sets its name: 6 to 50 letters, digits and hyphens. Without one Minibus chooses it. */
    public NamespaceOptions name(String value) {
        name = value;
        return this;
    }

    /** Sets its limits: relaxed, standard, premium or emulator. */
    public NamespaceOptions limits(String profile) {
        limits = profile;
        return this;
    }
}
