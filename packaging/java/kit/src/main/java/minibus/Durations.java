package minibus;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Pattern;

/** Reads durations as Minibus and people write them: 90s, 1h30m, 7d, or ISO 8601. */
final class Durations {
    private static final Pattern PART = Pattern.compile("(\\d+)(ms|s|m|h|d)");

    private Durations() {
    }

    static Duration parse(String text) {
        if (text == null || !text.matches("(" + PART.pattern() + ")+")) {
            try {
                return Duration.parse(String.valueOf(text));
            } catch (DateTimeParseException e) {
                throw new IllegalArgumentException("found the duration \"" + text
                    + "\"; want one such as 1h, 90s or PT1H", e);
            }
        }
        return PART.matcher(text).results().map(part -> {
            var number = Long.parseLong(part.group(1));
            return switch (part.group(2)) {
                case "ms" -> Duration.ofMillis(number);
                case "s" -> Duration.ofSeconds(number);
                case "m" -> Duration.ofMinutes(number);
                case "h" -> Duration.ofHours(number);
                default -> Duration.ofDays(number);
            };
        }).reduce(Duration.ZERO, Duration::plus);
    }

    /** Writes a duration as people do: 1.5s, 2m30s. */
    static String text(Duration time) {
        return time.toString().substring(2).toLowerCase(Locale.ROOT);
    }
}
