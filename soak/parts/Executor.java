// SPDX-License-Identifier: MIT OR Apache-2.0
import clearway.executor.AdaptiveExecutor;
import clearway.executor.Site;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The part `executor` of the soak: batches of short, long, blocking and failing items from several threads, on an executor that is closed and
 * replaced from time to time. Commands arrive on standard input, messages leave on standard output, one JSON text a line.
 */
public final class Executor {
    private static final int WIDTH = 8;
    private static final double RENEW_EACH = 1.0 / 5000;
    private static final int UNEXPECTED_MAX = 20;

    private interface Operation {
        void run(AdaptiveExecutor executor, Random random) throws Exception;
    }

    private record Choice(String name, double weight, Operation run) {}

    /** A result that shows a fault of Clearway. */
    private static final class Wrong extends RuntimeException {
        Wrong(String message) {
            super(message);
        }
    }

    /** An item's failure on purpose. */
    private static final class OnPurpose extends RuntimeException {
        OnPurpose() {
            super("on purpose", null, false, false);
        }
    }

    private static final List<Choice> CHOICES = List.of(
        new Choice("short items", 30, Executor::shortItems),
        new Choice("long items", 4, Executor::longItems),
        new Choice("blocking items", 4, Executor::blockingItems),
        new Choice("results", 10, Executor::results),
        new Choice("asynchronous results", 10, Executor::asynchronousResults),
        new Choice("failing items", 4, Executor::failingItems),
        new Choice("cancelled batch", 4, Executor::cancelledBatch),
        new Choice("nested batch", 4, Executor::nestedBatch),
        new Choice("executor service", 4, Executor::executorService),
        new Choice("interrupted caller", 2, Executor::interruptedCaller));

    private static final AtomicLong started = new AtomicLong();
    private static final Map<Long, Object[]> open = new ConcurrentHashMap<>();
    private static final Map<String, AtomicLong> outcomes = new ConcurrentHashMap<>();
    private static final List<String> unexpected = new ArrayList<>();
    private static long unexpectedCount;
    private static long renewals;

    private static volatile AdaptiveExecutor executor = new AdaptiveExecutor();
    private static volatile boolean stopping;
    private static final AtomicLong quota = new AtomicLong(Long.MAX_VALUE);

    public static void main(String[] args) throws Exception {
        long seed = Long.parseLong(args[0]);
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> unexpected("uncaught in " + thread.getName() + ": " + error));
        List<Thread> threads = new ArrayList<>();
        say("{\"kind\":\"ready\"}");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            if (line.contains("\"start\"")) {
                Matcher operations = Pattern.compile("\"operations\":(\\d+)").matcher(line);
                if (operations.find()) quota.set(Long.parseLong(operations.group(1)));
                for (int at = 0; at < WIDTH; at++) threads.add(begin(new Random(seed + at)));
                Thread watcher = new Thread(() -> {
                    for (Thread thread : threads) join(thread);
                    say("{\"kind\":\"done\"}");
                });
                watcher.setDaemon(true);
                watcher.start();
            } else if (line.contains("\"sample\"")) {
                say(message("sample"));
            } else {
                stopping = true;
                for (Thread thread : threads) join(thread);
                executor.close();
                say(message("ended"));
                // From here on, only threads that the executor has left can keep this process running.
                return;
            }
        }
        // The parent has ended. Nothing else would stop this process.
        System.exit(1);
    }

    private static Thread begin(Random random) {
        Thread thread = new Thread(() -> {
            while (!stopping && quota.getAndDecrement() > 0) {
                once(random);
                if (random.nextDouble() < RENEW_EACH) renew();
            }
        });
        thread.start();
        return thread;
    }

    /** Closes the executor and makes another one. Operations that still use the old one may be rejected. */
    private static void renew() {
        AdaptiveExecutor old;
        synchronized (Executor.class) {
            old = executor;
            executor = new AdaptiveExecutor();
            renewals++;
        }
        old.close();
    }

    private static void once(Random random) {
        double at = random.nextDouble() * CHOICES.stream().mapToDouble(Choice::weight).sum();
        Choice choice = CHOICES.get(0);
        for (Choice each : CHOICES) {
            choice = each;
            if ((at -= each.weight()) < 0) break;
        }
        long number = started.getAndIncrement();
        open.put(number, new Object[] {choice.name(), System.nanoTime()});
        String outcome = "ok";
        try {
            choice.run().run(executor, random);
        } catch (RejectedExecutionException closed) {
            outcome = "rejected";
        } catch (Throwable error) {
            outcome = error.getClass().getSimpleName();
            unexpected(choice.name() + ": " + error + " at " + List.of(error.getStackTrace()).stream().limit(4).toList());
        }
        Thread.interrupted();
        open.remove(number);
        outcomes.computeIfAbsent(choice.name() + ": " + outcome, key -> new AtomicLong()).incrementAndGet();
    }

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    private static void check(boolean right, String what) {
        if (!right) throw new Wrong(what);
    }

    private static void shortItems(AdaptiveExecutor executor, Random random) throws Exception {
        int count = random.nextInt(2000);
        AtomicLong sum = new AtomicLong();
        executor.runAll(executor.site("short"), count, at -> sum.addAndGet(at));
        check(sum.get() == (long) count * (count - 1) / 2, "items were left out or ran twice");
    }

    private static void longItems(AdaptiveExecutor executor, Random random) throws Exception {
        AtomicLong ran = new AtomicLong();
        int count = random.nextInt(16);
        executor.runAll(executor.site("long"), numbers(count), item -> {
            double value = item;
            for (int at = 0; at < 100_000; at++) value = Math.sqrt(value + at);
            if (value >= 0) ran.incrementAndGet();
        });
        check(ran.get() == count, ran + " of " + count + " items ran");
    }

    private static void blockingItems(AdaptiveExecutor executor, Random random) throws Exception {
        AtomicLong ran = new AtomicLong();
        int count = random.nextInt(16);
        executor.runAll(executor.site("blocking"), numbers(count), item -> {
            sleep(1 + item % 3);
            ran.incrementAndGet();
        });
        check(ran.get() == count, ran + " of " + count + " items ran");
    }

    private static void results(AdaptiveExecutor executor, Random random) throws Exception {
        List<Integer> items = numbers(random.nextInt(500));
        List<Integer> results = executor.mapAll(executor.site("results"), items, item -> item + 1);
        check(results.equals(items.stream().map(item -> item + 1).toList()), "results are wrong or out of order");
    }

    private static void asynchronousResults(AdaptiveExecutor executor, Random random) throws Exception {
        List<Integer> items = numbers(random.nextInt(500));
        var results = executor.mapAllAsync(executor.site("results"), items, item -> item + 1);
        check(results.get().equals(items.stream().map(item -> item + 1).toList()), "results are wrong or out of order");
    }

    private static void failingItems(AdaptiveExecutor executor, Random random) throws Exception {
        int bad = random.nextInt(100);
        try {
            executor.runAll(executor.site("failing"), 100, at -> {
                if (at == bad) throw new OnPurpose();
            });
        } catch (RejectedExecutionException closed) {
            throw closed;
        } catch (RuntimeException error) {
            for (Throwable each = error; each != null; each = each.getCause()) if (each instanceof OnPurpose) return;
            throw error;
        }
        throw new Wrong("the error of an item was lost");
    }

    private static void cancelledBatch(AdaptiveExecutor executor, Random random) throws Exception {
        CompletableFuture<Void> batch =
            executor.runAllAsync(executor.site("cancelled"), numbers(64), item -> sleep(1));
        sleep(random.nextInt(5));
        batch.cancel(true);
        try {
            batch.get();
        } catch (CancellationException expected) {
            // The batch was not over when it was cancelled.
        }
    }

    private static void nestedBatch(AdaptiveExecutor executor, Random random) throws Exception {
        AtomicLong ran = new AtomicLong();
        executor.runAll(executor.site("outer"), 8, outer -> {
            try {
                executor.runAll(executor.site("inner"), 8, inner -> ran.incrementAndGet());
            } catch (InterruptedException interrupted) {
                throw new Wrong("a nested batch was interrupted");
            }
        });
        check(ran.get() == 64, ran + " of 64 nested items ran");
    }

    private static void executorService(AdaptiveExecutor executor, Random random) throws Exception {
        ExecutorService service = executor.asExecutorService(executor.site("service"));
        List<Future<Integer>> futures = new ArrayList<>();
        for (int at = 0; at < 10; at++) {
            int number = at;
            futures.add(service.submit(() -> number * 2));
        }
        for (int at = 0; at < 10; at++) check(futures.get(at).get() == at * 2, "a future has another result");
        service.shutdown();
    }

    private static void interruptedCaller(AdaptiveExecutor executor, Random random) throws Exception {
        Thread.currentThread().interrupt();
        AtomicLong ran = new AtomicLong();
        try {
            executor.runAll(executor.site("interrupted"), 50, at -> ran.incrementAndGet());
        } catch (InterruptedException expected) {
            return;
        }
        check(ran.get() == 50 && Thread.interrupted(), "an interrupted batch neither failed nor ran all of its items");
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException cancelled) {
            Thread.currentThread().interrupt();
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static synchronized void unexpected(String text) {
        unexpectedCount++;
        if (unexpected.size() < UNEXPECTED_MAX) unexpected.add(text);
    }

    private static synchronized String message(String kind) {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        long buffers = 0;
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) buffers += pool.getMemoryUsed();
        long now = System.nanoTime();
        long oldest = 0;
        StringBuilder openTexts = new StringBuilder();
        int listed = 0;
        for (Object[] each : open.values()) {
            long ms = (now - (Long) each[1]) / 1_000_000;
            oldest = Math.max(oldest, ms);
            if (listed++ >= UNEXPECTED_MAX) continue;
            openTexts.append(openTexts.length() == 0 ? "" : ",").append("{\"name\":").append(text((String) each[0])).append(",\"ms\":").append(ms).append('}');
        }
        StringBuilder ends = new StringBuilder();
        new TreeMap<>(outcomes).forEach((key, count) ->
            ends.append(ends.length() == 0 ? "" : ",").append(text(key)).append(':').append(count));
        String faults = String.join(",", unexpected.stream().map(Executor::text).toList());
        long begun = started.get();
        return "{\"kind\":\"" + kind + "\",\"sample\":{\"rss\":" + status("VmRSS") * 1024
            + ",\"heap\":" + (runtime.totalMemory() - runtime.freeMemory()) + ",\"buffers\":" + buffers
            + ",\"threads\":" + ManagementFactory.getThreadMXBean().getThreadCount() + ",\"files\":" + files()
            + "},\"report\":{\"started\":" + begun + ",\"settled\":" + (begun - open.size()) + ",\"oldestMs\":" + oldest
            + ",\"open\":[" + openTexts + "],\"outcomes\":{" + ends + "},\"unexpected\":[" + faults
            + "],\"unexpectedCount\":" + unexpectedCount + ",\"renewals\":" + renewals + "}}";
    }

    /** Returns a number of /proc/self/status, or 0 where there is no such file. */
    private static long status(String name) {
        try {
            Matcher found = Pattern.compile("(?m)^" + name + ":\\s*(\\d+)").matcher(Files.readString(Path.of("/proc/self/status")));
            return found.find() ? Long.parseLong(found.group(1)) : 0;
        } catch (IOException absent) {
            return 0;
        }
    }

    private static int files() {
        String[] open = new File("/proc/self/fd").list();
        return open == null ? 0 : open.length;
    }

    private static String text(String plain) {
        return '"' + plain.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", " ") + '"';
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
