// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.coroutines;

import static org.junit.jupiter.api.Assertions.assertTrue;

import clearway.executor.AdaptiveExecutor;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AdaptiveDispatcherJavaTest {
    @Test
    void javaMakesADispatcherByAPlainCall() throws InterruptedException {
        try (var executor = new AdaptiveExecutor(2);
                var dispatcher = AdaptiveDispatchers.asDispatcher(executor, executor.site("java"))) {
            var ran = new CountDownLatch(1);
            dispatcher.getExecutor().execute(ran::countDown);
            assertTrue(ran.await(1, TimeUnit.MINUTES));
        }
    }
}
