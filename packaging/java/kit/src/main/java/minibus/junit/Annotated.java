package minibus.junit;

import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** The annotation that holds for a class, and the class that has it. */
record Annotated(Class<?> type, Minibus minibus) {
    /** Returns the annotation of the class of a test, or of a class around it; null without one. */
    static Annotated of(ExtensionContext context) {
        for (var each = Optional.of(context); each.isPresent(); each = each.get().getParent()) {
            var found = each.get().getTestClass().map(Annotated::own);
            if (found.isPresent()) {
                return found.get();
            }
        }
        return null;
    }

    /** Returns the annotation of a class, or of a class around it; null without one. */
    static Annotated of(Class<?> type) {
        for (var each = type; each != null; each = each.getEnclosingClass()) {
            var own = own(each);
            if (own != null) {
                return own;
            }
        }
        return null;
    }

    private static Annotated own(Class<?> type) {
        return AnnotationSupport.findAnnotation(type, Minibus.class)
            .map(found -> new Annotated(type, found)).orElse(null);
    }

    Lease lease() {
        return Lease.of(type, minibus);
    }
}
