package minibus;

import java.util.List;

/** What Minibus refuses or can't do. The message says what is wrong and what to do. */
public final class MinibusException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final List<String> errors;

    MinibusException(String detail, Throwable cause) {
        super(detail, cause);
        status = 0;
        errors = List.of();
    }

    MinibusException(int status, String detail, List<String> errors) {
        super(detail);
        this.status = status;
        this.errors = List.copyOf(errors);
    }

    /** The HTTP status with which Minibus refused the request; 0 if it did not answer. */
    public int status() {
        return status;
    }

    /** What is wrong, where, and what to do: the text of the exception. */
    public String detail() {
        return getMessage();
    }

    /** All that is wrong, if that is several things. */
    public List<String> errors() {
        return errors;
    }
}
