// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clearway.meter.metrics.Exposition;
import clearway.meter.metrics.MetricsOptions;
import clearway.meter.metrics.OpenTelemetryStalls;
import clearway.meter.metrics.StallMetrics;
import clearway.meter.metrics.StallScope;
import io.opentelemetry.api.OpenTelemetry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MeterJavaTest {
    private final ExecutorService loop = Executors.newSingleThreadExecutor();

    @AfterEach
    void close() {
        loop.shutdownNow();
    }

    private static int work(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() < end) Thread.onSpinWait();
        return ms;
    }

    @Test
    @DisplayName("Java: a measured function is one stall as long as it ran, and its value comes back")
    void measures() throws Exception {
        Measurement<Integer> measured =
                Meter.measure(loop, new MeterOptions().hz(120).label("work"), () -> work(30));
        assertEquals(30, measured.getValue());
        StallReport report = measured.getReport();
        assertEquals(1, report.getStalls().size());
        assertEquals(report.getDurationMs(), report.getLongestMs(), 0.01);
        assertEquals(0.5 * report.getLongestMs(), report.getLagMeanMs(), 0.01);
        assertTrue(measured.toString().startsWith("work: held once"), measured.toString());
        assertTrue(report.toJson().startsWith("{\"kind\":\"clearway-stalls\",\"version\":1,\"host\":\"jvm\""));
    }

    @Test
    @DisplayName("Java: what gives the thread back is measured until its stage ends, stall by stall")
    void measuresStages() throws Exception {
        Measurement<String> measured =
                Meter.measureStage(loop, new MeterOptions(), () -> CompletableFuture.runAsync(() -> work(20), loop)
                        .thenApplyAsync(
                                nothing -> {
                                    work(30);
                                    return "done";
                                },
                                loop));
        assertEquals("done", measured.getValue());
        assertTrue(measured.getReport().getStalledMs() <= measured.getRuntimeMs(), measured.toString());
    }

    @Test
    @DisplayName("Java: what the function throws is thrown, the same object")
    void throwsThrough() {
        IllegalStateException thrown = new IllegalStateException("mine");
        assertSame(
                thrown,
                assertThrows(
                        IllegalStateException.class,
                        () -> Meter.measure(loop, () -> {
                            throw thrown;
                        })));
        assertSame(
                thrown,
                assertThrows(
                        IllegalStateException.class,
                        () -> Meter.measureStage(loop, () -> CompletableFuture.failedFuture(thrown))));
    }

    @Test
    @DisplayName("Java: a watch tells stalls with their marks, begins anew, and keeps its last report")
    void watches() throws Exception {
        CompletableFuture<Stall> told = new CompletableFuture<>();
        StallWatch watch = Meter.watch(loop, new MeterOptions().onStall(stall -> {
                    if (!stall.getMarks().isEmpty()) told.complete(stall);
                }));
        watch.getReady().get();
        // Repeats until the watch reports a stall. On a busy machine, the meter's own thread may have no core during a
        // whole stall.
        do loop.submit(() -> Meter.mark("import", () -> work(40))).get();
        while (!told.isDone());
        assertEquals("import", told.get().getMarks().get(0).getLabel());
        assertFalse(watch.report().getStalls().isEmpty());
        watch.reset();
        watch.close();
        StallReport last = watch.report();
        assertSame(last, watch.report());
        assertTrue(last.getStalls().stream().allMatch(stall -> stall.getMarks().isEmpty()), last.toString());
    }

    @Test
    @DisplayName("Java: collections are seen, and told as such")
    void collections() throws Exception {
        try (StallWatch watch = Meter.watch(loop, new MeterOptions().floorMs(1))) {
            watch.getReady().get();
            assertTrue(watch.report().getSources().stream()
                    .anyMatch(source -> source.getName().equals("garbage collection") && source.getAvailable()));
            List<byte[]> kept = new java.util.ArrayList<>();
            // Repeats until a stall contains a collection. A collection of a small heap may be shorter than the
            // shortest recorded stall.
            for (int i = 0; watch.report().getStalls().stream().noneMatch(stall -> stall.getGcMs() > 0); i++) {
                if (i < 100) for (int j = 0; j < 10_000; j++) kept.add(new byte[100]);
                loop.submit(System::gc).get();
            }
        }
    }

    @Test
    @DisplayName("Java: pings go through an executor, and to a far side with a clock of its own")
    void pings() throws Exception {
        PingReport report = Meter.ping(loop, new PingOptions().count(40));
        assertEquals(40, report.getRoundTripMs().getN());
        assertEquals(0, report.getOneWay().getErrorMs());
        PingReport remote = Meter.pingRemote(() -> CompletableFuture.completedFuture(1e6 + System.nanoTime() / 1e6));
        assertTrue(remote.getOneWay().getErrorMs() <= remote.getRoundTripMs().getMin());
        assertTrue(
                Meter.pingRemote(() -> CompletableFuture.completedFuture(null)).getOneWay() == null);
    }

    @Test
    @DisplayName("Java: an executor that takes nothing is refused, and options that make no sense name themselves")
    void refusals() {
        loop.shutdown();
        assertThrows(RejectedExecutionException.class, () -> Meter.measure(loop, () -> 1));
        assertThrows(RejectedExecutionException.class, () -> Meter.ping(loop));
        try (StallWatch watch = Meter.watch(loop)) {
            watch.getReady().join();
            assertTrue(watch.report().toString().contains("not seen: heartbeat (the executor takes no more tasks"));
        }
        assertTrue(assertThrows(IllegalArgumentException.class, () -> new MeterOptions().hz(0))
                .getMessage()
                .endsWith("hz=0.0"));
    }

    @Test
    @DisplayName("Java: a watch gives its stalls to both exporters, and each is closed once")
    void exports() throws Exception {
        StallMetrics metrics = new StallMetrics(new MetricsOptions().hz(120));
        try (StallScope scope = metrics.scope(Map.of("thread", "loop"));
                OpenTelemetryStalls stalls =
                        OpenTelemetryStalls.record(OpenTelemetry.noop().getMeter("app"))) {
            CountDownLatch counted = new CountDownLatch(1);
            MeterOptions options =
                    new MeterOptions().onStall(scope.andThen(stalls).andThen(stall -> counted.countDown()));
            try (StallWatch watch = Meter.watch(loop::execute, options)) {
                watch.getReady().get();
                loop.execute(() -> work(50));
                counted.await();
            }
            Exposition answer = metrics.exposition("text/plain");
            assertEquals("text/plain; version=0.0.4; charset=utf-8", answer.getContentType());
            assertTrue(answer.getBody().contains("clearway_stall_duration_seconds_count{thread=\"loop\""));
            assertEquals(0, stalls.getFailures());
        }
    }
}
