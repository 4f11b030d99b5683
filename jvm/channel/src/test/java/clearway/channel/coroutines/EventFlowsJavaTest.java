// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.coroutines;

import static org.junit.jupiter.api.Assertions.assertEquals;

import clearway.channel.Endpoint;
import clearway.channel.ListenOptions;
import clearway.channel.transport.MemoryTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import kotlinx.coroutines.jdk9.ReactiveFlowKt;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class EventFlowsJavaTest {
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
