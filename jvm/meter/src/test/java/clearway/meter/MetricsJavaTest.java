// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clearway.meter.metrics.Exposition;
import clearway.meter.metrics.MetricsOptions;
import clearway.meter.metrics.OpenTelemetryStalls;
import clearway.meter.metrics.StallMetrics;
import clearway.meter.metrics.StallScope;
import io.opentelemetry.api.OpenTelemetry;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MetricsJavaTest {
    private static void work(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() < end) Thread.onSpinWait();
    }

    @Test
    @DisplayName("Java: a watch gives its stalls to both exporters, and each is closed once")
    void exports() throws Exception {
        ExecutorService loop = Executors.newSingleThreadExecutor();
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
        } finally {
            loop.shutdownNow();
        }
    }
}
