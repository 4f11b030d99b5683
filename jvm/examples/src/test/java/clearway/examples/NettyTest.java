// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import clearway.executor.AdaptiveExecutor;
import clearway.executor.Site;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.local.LocalServerChannel;
import io.netty.util.concurrent.EventExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A server on Netty's event loops, which the executor guards against blocking calls. */
class NettyTest {
    private final AdaptiveExecutor executor = new AdaptiveExecutor();
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, LocalIoHandler.newFactory());

    @BeforeEach
    void guardLoops() throws Exception {
        guard(executor, loops);
    }

    @AfterEach
    void close() {
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        executor.close();
    }

    // #region netty-guard
    /** Registers the threads of all loops, once, when the server starts. */
    static void guard(AdaptiveExecutor executor, EventLoopGroup loops) throws Exception {
        for (EventExecutor loop : loops)
            executor.registerEventThread(loop.submit(Thread::currentThread).get());
    }
    // #endregion netty-guard

    // #region netty-handler
    /** Answers a list of images with the list of the small ones. */
    static final class Thumbnails extends SimpleChannelInboundHandler<List<String>> {
        private final AdaptiveExecutor executor;
        private final Site site;

        Thumbnails(AdaptiveExecutor executor) {
            this.executor = executor;
            this.site = executor.site("thumbnails");
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, List<String> images) {
            executor.mapAllAsync(site, images, Thumbnails::shrink) // returns at once
                    .whenComplete((small, failure) -> {
                        if (failure == null)
                            context.writeAndFlush(small); // from any thread: Netty hands it to the loop
                        else context.fireExceptionCaught(failure);
                    });
        }

        private static String shrink(String image) {
            return image + " small";
        }
    }
    // #endregion netty-handler

    @Test
    @DisplayName("Netty: a handler answers with the results of a batch, which runs on no event loop")
    void answers() throws Exception {
        LocalAddress address = new LocalAddress(NettyTest.class);
        new ServerBootstrap()
                .group(loops)
                .channel(LocalServerChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Thumbnails(executor));
                    }
                })
                .bind(address)
                .sync();
        CompletableFuture<Object> answer = new CompletableFuture<>();
        Channel client = new Bootstrap()
                .group(loops)
                .channel(LocalChannel.class)
                .handler(new SimpleChannelInboundHandler<Object>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, Object message) {
                        answer.complete(message);
                    }
                })
                .connect(address)
                .sync()
                .channel();
        client.writeAndFlush(List.of("a.png", "b.png"));
        assertEquals(List.of("a.png small", "b.png small"), answer.get(1, TimeUnit.MINUTES));
    }

    @Test
    @DisplayName("Netty: a blocking batch on an event loop is refused")
    void refusesBlockingCalls() {
        Site site = executor.site("blocking");
        ExecutionException why = assertThrows(ExecutionException.class, () -> loops.next()
                .submit(() -> executor.mapAll(site, List.of(1), i -> i))
                .get());
        assertInstanceOf(IllegalStateException.class, why.getCause());
    }
}
