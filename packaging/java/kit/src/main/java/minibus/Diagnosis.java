package minibus;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Why nothing is received from an entity.
 *
 * @param entity its path
 * @param available messages that a receiver could have now
 * @param receivers how many receivers are attached
 * @param blocked whether nothing can be received as long as the findings hold that block
 * @param findings what is so, those first that block
 */
public record Diagnosis(String entity, long available, long receivers, boolean blocked, List<Finding> findings) {
    /**
     * One finding.
     *
     * @param code its name, such as no-receiver
     * @param blocks whether nothing is received while it holds
     * @param text what is so
     * @param fix what to do; null: nothing
     */
    public record Finding(String code, boolean blocks, String text, String fix) {
        @Override
        public String toString() {
            return fix == null ? text : text + " " + fix;
        }
    }

    /** The findings as text, one in each line. */
    @Override
    public String toString() {
        return findings.stream().map(Finding::toString).collect(Collectors.joining("\n"));
    }
}
