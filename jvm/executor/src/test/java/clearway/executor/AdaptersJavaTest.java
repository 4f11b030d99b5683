// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clearway.executor.coroutines.AdaptiveDispatchers;
import clearway.executor.micrometer.AdaptiveExecutorMetrics;
import clearway.executor.rxjava3.AdaptiveSchedulers;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.reactivex.rxjava3.core.Flowable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class AdaptersJavaTest {
    @Test
    void javaMakesADispatcherByAPlainCall() throws InterruptedException {
        try (var executor = new AdaptiveExecutor(2);
                var dispatcher = AdaptiveDispatchers.asDispatcher(executor, executor.site("java"))) {
            var ran = new CountDownLatch(1);
            dispatcher.getExecutor().execute(ran::countDown);
            assertTrue(ran.await(1, TimeUnit.MINUTES));
        }
    }

    @Test
    void javaMakesASchedulerByAPlainCall() {
        try (var executor = new AdaptiveExecutor(2)) {
            var scheduler = AdaptiveSchedulers.asScheduler(executor, executor.site("java"));
            var sum = Flowable.range(1, 10)
                    .parallel()
                    .runOn(scheduler)
                    .map(number -> number * 2)
                    .sequential()
                    .reduce(0, Integer::sum)
                    .blockingGet();
            assertEquals(110, sum);
        }
    }

    @Test
    @DisplayName("Java: the metrics of an executor are bound to a registry by one call")
    void binds() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (AdaptiveExecutor executor = new AdaptiveExecutor()) {
            // #region micrometer
            new AdaptiveExecutorMetrics(executor, "work").bindTo(registry);
            // #endregion micrometer
            executor.submit(() -> 1).get();
            assertEquals(0, registry.get("executor.queued").gauge().value());
        }
    }
}
