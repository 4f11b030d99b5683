// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clearway.executor.coroutines.AdaptiveDispatchers;
import clearway.executor.micrometer.AdaptiveExecutorMetrics;
import clearway.executor.rxjava3.AdaptiveSchedulers;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.reactivex.rxjava3.core.Flowable;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class AdaptiveExecutorJavaTest {
    @Test
    @DisplayName("Java: a batch of a list, a batch of numbers, a future, options and plain tasks read as Java")
    void readsAsJava() throws Exception {
        try (AdaptiveExecutor executor = new AdaptiveExecutor()) {
            Site sums = executor.site("sums");
            AtomicLong sum = new AtomicLong();
            executor.runAll(sums, List.of(1L, 2L, 3L), sum::addAndGet);
            executor.runAll(sums, 4, i -> sum.addAndGet(i));
            executor.runAllAsync(sums, List.of(10L), sum::addAndGet).get();
            assertEquals(22, sum.get());

            ThreadLocal<String> user = ThreadLocal.withInitial(() -> "nobody");
            Site written = executor.site("written", new SiteOptions().ordered().carry(user));
            ExecutorService inOrder = executor.asExecutorService(written);
            user.set("me");
            Future<String> name = inOrder.submit(user::get);
            assertEquals("me", name.get());
            inOrder.shutdown();
            assertTrue(inOrder.awaitTermination(1, TimeUnit.MINUTES));

            executor.registerEventThread(new Thread());
        }
    }

    private static String shrink(String image) {
        return image + " small";
    }

    private static void confirm(int sent) {
        assertEquals(6, sent);
    }

    private static void report(String word, Throwable failure) {
        assertEquals("x", word);
        assertTrue(failure instanceof NumberFormatException);
    }

    private static void show(List<String> images) {
        assertEquals(List.of("a.png small", "b.png small"), images);
    }

    @Test
    @DisplayName("Java: the first example uses the results of a batch, of a future and of a task in order")
    void firstExample() throws Exception {
        List<String> images = List.of("a.png", "b.png");
        String letter = "letter";
        // #region first
        try (AdaptiveExecutor executor = new AdaptiveExecutor()) {
            Site thumbnails = executor.site("thumbnails"); // one site for each kind of work; keep it
            List<String> small =
                    executor.mapAll(thumbnails, images, image -> shrink(image)); // blocks; this thread helps
            show(small);
            executor.mapAllAsync(thumbnails, images, image -> shrink(image)) // returns at once: for event threads
                    .thenAccept(later -> show(later));
            ExecutorService mail = executor.asExecutorService(executor.site("mail", new SiteOptions().ordered()));
            Future<Integer> sent = mail.submit(() -> letter.length()); // tasks of this site run one by one, in order
            confirm(sent.get());
        }
        // #endregion first
    }

    @Test
    @DisplayName("Java: mapAll and mapAllAsync return the results in the order of the items")
    void mapsAll() throws Exception {
        try (AdaptiveExecutor executor = new AdaptiveExecutor()) {
            List<String> words = List.of("one", "three", "seventeen");
            // #region map-all
            Site lengths = executor.site("lengths");
            List<Integer> found = executor.mapAll(lengths, words, String::length); // blocks; this thread takes part
            CompletableFuture<List<Integer>> later = executor.mapAllAsync(lengths, words, String::length);
            // #endregion map-all
            assertEquals(List.of(3, 5, 9), found);
            assertEquals(found, later.get());
        }
    }

    @Test
    @DisplayName("Java: failures, streams of results, single calls and completable futures read as Java")
    void settlesAndCalls() throws Exception {
        try (AdaptiveExecutor executor = new AdaptiveExecutor()) {
            List<String> words = List.of("12", "x", "34");
            int sum = 0;
            // #region settle-all
            Site numbers = executor.site("numbers");
            for (ItemResult<Integer> each : executor.settleAll(numbers, words, Integer::parseInt)) {
                if (each.isSuccess()) sum += each.getValue();
                else report(words.get(each.getIndex()), each.getFailure());
            }
            // #endregion settle-all
            assertEquals(46, sum);
            sum = 0;
            Iterable<String> lines = words; // for example, the lines of a large file
            // #region settle-each
            EachOptions options = new EachOptions().window(16).asFinished(); // at most 16 lines are in work
            try (ResultStream<String, Integer> results =
                    executor.settleEach(numbers, lines, options, Integer::parseInt)) {
                for (ItemResult<Integer> each : results) if (each.isSuccess()) sum += each.getValue();
            }
            // #endregion settle-each
            assertEquals(46, sum);
            // #region call-async
            CompletableFuture<Integer> one = executor.callAsync(numbers, () -> Integer.parseInt("56"));
            CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> 78, executor); // learns by this line
            // #endregion call-async
            assertEquals(134, one.get() + other.get());
            SiteOptions ordered = new SiteOptions().ordered();
            assertEquals(ordered, new SiteOptions().ordered());
            SiteMismatchException refused =
                    assertThrows(SiteMismatchException.class, () -> executor.site("numbers", ordered));
            assertEquals(ordered, refused.getRequested());
        }
    }

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
