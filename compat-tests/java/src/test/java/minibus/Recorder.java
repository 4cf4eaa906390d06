package minibus;

import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpHeaders;
import com.azure.core.http.HttpPipelineCallContext;
import com.azure.core.http.HttpPipelineNextPolicy;
import com.azure.core.http.HttpRequest;
import com.azure.core.http.HttpResponse;
import com.azure.core.http.policy.HttpPipelinePolicy;
import java.util.List;
import reactor.core.publisher.Mono;

/** A policy that keeps what passes, in the form of the golden files of mgmt. */
final class Recorder implements HttpPipelinePolicy {
    private static final List<HttpHeaderName> SENT =
        List.of(HttpHeaderName.CONTENT_TYPE, HttpHeaderName.ACCEPT, HttpHeaderName.IF_MATCH);
    private static final List<HttpHeaderName> ANSWERED = List.of(HttpHeaderName.CONTENT_TYPE, HttpHeaderName.ETAG);

    private final StringBuffer exchanges = new StringBuffer();

    /** What passed so far. Times differ from run to run; the replay's clock stands still. */
    String text() {
        return exchanges.toString().replaceAll("20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z", "2026-03-01T10:00:00Z");
    }

    @Override
    public Mono<HttpResponse> process(HttpPipelineCallContext context, HttpPipelineNextPolicy next) {
        final HttpRequest request = context.getHttpRequest();
        final String body = request.getBodyAsBinaryData() == null ? "" : request.getBodyAsBinaryData().toString();
        return next.process().map(HttpResponse::buffer).flatMap(response -> response.getBodyAsString().defaultIfEmpty("").map(answer -> {
            exchanges.append(request.getHttpMethod()).append(' ').append(request.getUrl()).append('\n');
            keep(SENT, request.getHeaders());
            exchanges.append('\n').append(body).append("\n--- ").append(response.getStatusCode()).append('\n');
            keep(ANSWERED, response.getHeaders());
            exchanges.append('\n').append(answer).append("\n===\n");
            return response;
        }));
    }

    private void keep(List<HttpHeaderName> names, HttpHeaders headers) {
        for (HttpHeaderName name : names) {
            final String value = headers.getValue(name);
            if (value != null) {
                exchanges.append(name).append(": ").append(value).append('\n');
            }
        }
    }
}
