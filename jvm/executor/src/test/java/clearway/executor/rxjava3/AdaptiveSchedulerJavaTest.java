// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.rxjava3;

import static org.junit.jupiter.api.Assertions.assertEquals;

import clearway.executor.AdaptiveExecutor;
import io.reactivex.rxjava3.core.Flowable;
import org.junit.jupiter.api.Test;

class AdaptiveSchedulerJavaTest {
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
}
