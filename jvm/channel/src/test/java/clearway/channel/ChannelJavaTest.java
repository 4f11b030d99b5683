// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clearway.channel.codec.CodecError;
import clearway.channel.codec.CodecException;
import clearway.channel.codec.Codecs;
import clearway.channel.codec.Extension;
import clearway.channel.codec.MethodCall;
import clearway.channel.codec.MethodReply;
import clearway.channel.codec.StandardMessageCodec;
import clearway.channel.codec.ValueReader;
import clearway.channel.codec.ValueWriter;
import clearway.channel.coroutines.EventFlows;
import clearway.channel.transport.MemoryTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import kotlinx.coroutines.jdk9.ReactiveFlowKt;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ChannelJavaTest {
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

    record Point(double x, double y) {}

    /** An extension for a type of the application. */
    static final class Points extends Extension<Point> {
        Points() {
            super(128, Point.class);
        }

        @Override
        public void write(Point point, ValueWriter writer) {
            writer.float64(point.x());
            writer.float64(point.y());
        }

        @Override
        public Point read(ValueReader reader) {
            return new Point(reader.float64(), reader.float64());
        }
    }

    @Test
    @DisplayName("Java: values, an extension and methods read as Java")
    void codecsReadAsJava() {
        byte[] message = Codecs.STANDARD.encode(Map.of("name", "Zoë"));
        assertEquals(Map.of("name", "Zoë"), Codecs.STANDARD.decode(message));

        StandardMessageCodec withPoints = Codecs.STANDARD.with(new Points());
        List<Point> points = List.of(new Point(1, 2), new Point(3, 4));
        assertEquals(points, withPoints.decode(withPoints.encode(points)));

        byte[] call = Codecs.STANDARD_METHODS.encodeCall(new MethodCall("add", new int[] {1, 2}));
        assertArrayEquals(new int[] {1, 2}, (int[])
                Codecs.STANDARD_METHODS.decodeCall(call).getArgs());
        byte[] failed = Codecs.JSON_METHODS.encodeReply(new MethodReply.Failure("UNAVAILABLE", "no battery"));
        MethodReply reply = Codecs.JSON_METHODS.decodeReply(failed);
        assertEquals(
                "UNAVAILABLE",
                assertInstanceOf(MethodReply.Failure.class, reply).getCode());
    }

    @Test
    @DisplayName("Java: a refusal has a code and the byte that is wrong")
    void refusals() {
        CodecException refused =
                assertThrows(CodecException.class, () -> Codecs.STANDARD.decode(new byte[] {12, 1, 15}));
        assertEquals("unknown-tag", refused.getCode());
        assertEquals(2, refused.getOffset());
        assertEquals(CodecError.UNKNOWN_TAG, refused.getError());
    }

    @Test
    @DisplayName("Java: what an extension throws is the cause of a malformed")
    void brokenExtension() {
        Extension<Point> broken = new Extension<>(200, Point.class) {
            @Override
            public void write(Point point, ValueWriter writer) {
                writer.size(300);
            }

            @Override
            public Point read(ValueReader reader) {
                throw new IllegalStateException("no point");
            }
        };
        StandardMessageCodec codec = Codecs.STANDARD.with(broken);
        CodecException refused = assertThrows(CodecException.class, () -> codec.decode(codec.encode(new Point(0, 0))));
        assertEquals(CodecError.MALFORMED, refused.getError());
        assertNotNull(refused.getCause());
        assertThrows(IllegalArgumentException.class, () -> codec.with(broken));
    }

    private static final class Collector implements Flow.Subscriber<Integer> {
        final List<Integer> got = new ArrayList<>();
        final CompletableFuture<List<Integer>> done = new CompletableFuture<>();
        private final int most;
        private Flow.Subscription subscription;

        Collector(int most) {
            this.most = most;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            this.subscription = subscription;
            subscription.request(1);
        }

        @Override
        public void onNext(Integer number) {
            got.add(number);
            if (got.size() < most) {
                subscription.request(1);
                return;
            }
            subscription.cancel();
            done.complete(got);
        }

        @Override
        public void onError(Throwable error) {
            done.completeExceptionally(error);
        }

        @Override
        public void onComplete() {
            done.complete(got);
        }
    }

    @Test
    @DisplayName("Java: a stream of events is a Flow.Publisher, with back-pressure, an end and a cancel")
    void isAPublisher() throws Exception {
        var transports = MemoryTransport.pair();
        var first = Endpoint.connect(transports.getFirst());
        var second = Endpoint.connect(transports.getSecond());
        try (Endpoint app = first.get();
                Endpoint sensor = second.get()) {
            sensor.events("count").serveEach(args -> List.of(1, 2, 3));
            // #region java-publisher
            Flow.Publisher<Integer> numbers = ReactiveFlowKt.asPublisher(
                    EventFlows.asFlow(app.events("count"), Integer.class, null, new ListenOptions().window(8)));
            // #endregion java-publisher
            var all = new Collector(10);
            numbers.subscribe(all);
            assertEquals(List.of(1, 2, 3), all.done.get());
            var two = new Collector(2);
            numbers.subscribe(two);
            assertEquals(List.of(1, 2), two.done.get());
            while (app.stats().getListening() > 0 || sensor.stats().getServing() > 0) Thread.yield();
        }
    }
}
