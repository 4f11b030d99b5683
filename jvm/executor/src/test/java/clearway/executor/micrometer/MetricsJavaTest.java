// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import clearway.executor.AdaptiveExecutor;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MetricsJavaTest {
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
