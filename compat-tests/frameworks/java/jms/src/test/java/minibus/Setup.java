package minibus;

/** A client and the limits of the namespace that it uses. */
record Setup(Client client, String limits) {
    @Override
    public String toString() {
        return client.name().toLowerCase(java.util.Locale.ROOT) + ", " + limits;
    }
}
