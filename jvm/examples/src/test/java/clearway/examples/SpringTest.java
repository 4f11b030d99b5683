// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clearway.executor.AdaptiveExecutor;
import clearway.executor.SiteOptions;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** The executor as Spring's task executors: one for each kind of work. */
class SpringTest {
    // #region spring
    @Configuration
    @EnableAsync
    static class Executors {
        @Bean // Spring closes it with the context.
        AdaptiveExecutor adaptiveExecutor() {
            return new AdaptiveExecutor();
        }

        @Bean
        AsyncTaskExecutor thumbnails(AdaptiveExecutor executor) {
            return new TaskExecutorAdapter(executor.asExecutorService(executor.site("thumbnails")));
        }

        @Bean
        AsyncTaskExecutor mail(AdaptiveExecutor executor) { // one after the other, in order
            return new TaskExecutorAdapter(
                    executor.asExecutorService(executor.site("mail", new SiteOptions().ordered())));
        }
    }

    static class Images {
        @Async("thumbnails") // the name of the bean
        public CompletableFuture<String> shrink(String image) {
            return CompletableFuture.completedFuture(
                    image + " shrunk by " + Thread.currentThread().getName());
        }
    }
    // #endregion spring

    @Configuration
    static class Beans {
        @Bean
        Images images() {
            return new Images();
        }
    }

    @Test
    @DisplayName("Spring: an @Async method runs on the executor, and the context closes the executor")
    void runsAsync() throws Exception {
        AdaptiveExecutor executor;
        try (var context = new AnnotationConfigApplicationContext(Executors.class, Beans.class)) {
            executor = context.getBean(AdaptiveExecutor.class);
            String shrunk = context.getBean(Images.class).shrink("a.png").get();
            assertTrue(shrunk.startsWith("a.png shrunk by clearway-"), shrunk);
            AsyncTaskExecutor mail = context.getBean("mail", AsyncTaskExecutor.class);
            assertEquals(2, mail.submit(() -> 2).get());
        }
        assertTrue(executor.isTerminated());
    }
}
