// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clearway.channel.codec.Codecs;
import clearway.channel.transport.MemoryTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class EndpointJavaTest {
    @Test
    @DisplayName("Java: calls, handlers, messages and events read as Java")
    void readsAsJava() throws Exception {
        var transports = MemoryTransport.pair();
        CompletableFuture<Endpoint> first = Endpoint.connect(transports.getFirst());
        CompletableFuture<Endpoint> second =
                Endpoint.connect(transports.getSecond(), new EndpointOptions().callsMax(100));
        try (Endpoint app = first.get();
                Endpoint camera = second.get()) {
            camera.methods("camera")
                    .handle(new MethodTable()
                            .on("zoom", (args, context) -> {
                                int level = (Integer) args;
                                if (level > 8) throw new RemoteException("OUT_OF_RANGE", "no zoom", Map.of("max", 8));
                                return level;
                            })
                            .on("later", (args, context) -> CompletableFuture.completedFuture("done")));
            camera.events("frames").serveEach(count -> List.of(1, 2, 3));
            camera.messages("log", Codecs.STRING).handle((line, context) -> Reply.of(line.toUpperCase()));

            Methods methods = app.methods("camera");
            CallOptions soon = new CallOptions().deadlineMs(60_000);
            assertEquals(2, methods.<Integer>call("zoom", 2, soon).get());
            assertEquals("done", methods.<String>call("later").get());
            assertEquals(2L, methods.call(Long.class, "zoom", 2).get());
            Throwable wrong =
                    Outcome.of(methods.call(String.class, "zoom", 2)).get().getError();
            assertEquals("camera.zoom: result must be String?: result=2", wrong.getMessage());
            Outcome<Integer> refused =
                    Outcome.of(methods.<Integer>call("zoom", 9, soon)).get();
            assertEquals(OutcomeKind.REMOTE_ERROR, refused.getKind());
            assertEquals(
                    "LINE",
                    app.messages("log", Codecs.STRING).send("line").get().getValue());

            List<Integer> frames = new ArrayList<>();
            try (EventStream<Integer> stream = app.events("frames").listen(3, new ListenOptions().window(2))) {
                for (int frame : stream) frames.add(frame);
                assertTrue(stream.read().get().isEnd());
            }
            assertEquals(List.of(1, 2, 3), frames);
            List<Long> numbers = new ArrayList<>();
            try (EventStream<Long> stream = app.events("frames").listen(Long.class, 3)) {
                for (long frame : stream) numbers.add(frame);
            }
            assertEquals(List.of(1L, 2L, 3L), numbers);
        }
    }
}
