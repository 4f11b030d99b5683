// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.abi;

import static clearway.plugin.abi.Layout.TEXT;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * Calls the functions of libclearway. clearway_host.h documents them. Each function except {@link #version} returns a
 * status. This class is Java and not Kotlin, so that the compiler treats the method handles as constants and calls them
 * with their exact types. The JVM keeps the arena of a passed segment open until the function returns. Not API.
 */
public final class Abi {
    private static final SymbolLookup SYMBOLS = Library.symbols();
    private static final Linker LINKER = Linker.nativeLinker();

    private static final MethodHandle VERSION = handle("clearway_version");
    private static final MethodHandle PLUGIN_OPEN =
            handle("clearway_plugin_open", TEXT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG);
    private static final MethodHandle PLUGIN_CLOSE = handle("clearway_plugin_close", JAVA_LONG, JAVA_INT);
    private static final MethodHandle PLUGIN_FREE = handle("clearway_plugin_free", JAVA_LONG);
    private static final MethodHandle PLUGIN_STATS = handle("clearway_plugin_stats", JAVA_LONG, ADDRESS);
    private static final MethodHandle PLUGIN_SEND =
            handle("clearway_plugin_send", JAVA_LONG, TEXT, ADDRESS, JAVA_LONG, ADDRESS);
    private static final MethodHandle CALL_GIVE_UP = handle("clearway_call_give_up", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle ANSWER = handle("clearway_answer", JAVA_LONG, ADDRESS);
    private static final MethodHandle ANSWER_ERROR = handle("clearway_answer_error", JAVA_LONG, JAVA_INT, TEXT);
    private static final MethodHandle LISTEN =
            handle("clearway_plugin_listen", JAVA_LONG, TEXT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
    private static final MethodHandle STREAM_CREDIT = handle("clearway_stream_credit", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle STREAM_CANCEL = handle("clearway_stream_cancel", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle DRAIN = handle("clearway_plugin_drain", JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS);
    private static final MethodHandle EVENTS_RELEASE = handle("clearway_events_release", ADDRESS, JAVA_LONG);
    private static final MethodHandle MEMORY_ALLOCATE =
            handle("clearway_memory_allocate", JAVA_LONG, JAVA_INT, ADDRESS);
    private static final MethodHandle MEMORY_VIEW = handle("clearway_memory_view", JAVA_LONG, ADDRESS);
    private static final MethodHandle MEMORY_RETAIN = handle("clearway_memory_retain", JAVA_LONG, ADDRESS);
    private static final MethodHandle MEMORY_RELEASE = handle("clearway_memory_release", JAVA_LONG);
    private static final MethodHandle MEMORY_SEAL = handle("clearway_memory_seal", JAVA_LONG);
    private static final MethodHandle CHANNEL_FIND = handle("clearway_channel_find", JAVA_LONG, TEXT, ADDRESS);
    private static final MethodHandle CHANNEL_CALL = handle(
            "clearway_channel_call",
            JAVA_LONG,
            ADDRESS,
            JAVA_LONG,
            JAVA_LONG,
            ADDRESS,
            JAVA_LONG,
            ADDRESS,
            JAVA_LONG,
            ADDRESS);
    private static final MethodHandle WAITER_NEW = handle("clearway_waiter_new", ADDRESS);
    private static final MethodHandle WAITER_FREE = handle("clearway_waiter_free", JAVA_LONG);
    private static final MethodHandle WAITER_WATCH = handle("clearway_waiter_watch", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle WAITER_WAKE = handle("clearway_waiter_wake", JAVA_LONG);
    private static final MethodHandle WAITER_WAIT =
            handle("clearway_waiter_wait", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS);
    private static final MethodHandle WAITER_LEND =
            handle("clearway_waiter_lend", JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG, ADDRESS);

    private Abi() {}

    private static MethodHandle handle(String name, MemoryLayout... given) {
        MemorySegment function = SYMBOLS.find(name).orElseThrow(() -> new UnsatisfiedLinkError(name));
        return LINKER.downcallHandle(function, FunctionDescriptor.of(JAVA_INT, given));
    }

    // Returns the exception to throw for a failed downcall. The native function itself throws nothing: the cause is an
    // argument, for example a segment whose arena is closed.
    private static RuntimeException toUnchecked(Throwable problem) {
        if (problem instanceof RuntimeException known) return known;
        if (problem instanceof Error error) throw error;
        return new IllegalStateException(problem);
    }

    public static int version() {
        try {
            return (int) VERSION.invokeExact();
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int pluginOpen(
            MemorySegment path, MemorySegment options, MemorySegment plugin, MemorySegment error, long errorSize) {
        try {
            return (int) PLUGIN_OPEN.invokeExact(path, options, plugin, error, errorSize);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int pluginClose(long plugin, int timeoutMs) {
        try {
            return (int) PLUGIN_CLOSE.invokeExact(plugin, timeoutMs);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int pluginFree(long plugin) {
        try {
            return (int) PLUGIN_FREE.invokeExact(plugin);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int pluginStats(long plugin, MemorySegment stats) {
        try {
            return (int) PLUGIN_STATS.invokeExact(plugin, stats);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int pluginSend(
            long plugin, MemorySegment channel, MemorySegment content, long tag, MemorySegment answer) {
        try {
            return (int) PLUGIN_SEND.invokeExact(plugin, channel, content, tag, answer);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int callGiveUp(long plugin, long call) {
        try {
            return (int) CALL_GIVE_UP.invokeExact(plugin, call);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int answer(long reply, MemorySegment content) {
        try {
            return (int) ANSWER.invokeExact(reply, content);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int answerError(long reply, int status, MemorySegment text) {
        try {
            return (int) ANSWER_ERROR.invokeExact(reply, status, text);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int listen(
            long plugin,
            MemorySegment channel,
            MemorySegment arguments,
            MemorySegment window,
            long tag,
            MemorySegment stream) {
        try {
            return (int) LISTEN.invokeExact(plugin, channel, arguments, window, tag, stream);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int streamCredit(long plugin, long stream, long events) {
        try {
            return (int) STREAM_CREDIT.invokeExact(plugin, stream, events);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int streamCancel(long plugin, long stream) {
        try {
            return (int) STREAM_CANCEL.invokeExact(plugin, stream);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int drain(long plugin, MemorySegment events, long capacity, MemorySegment count) {
        try {
            return (int) DRAIN.invokeExact(plugin, events, capacity, count);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int eventsRelease(MemorySegment events, long count) {
        try {
            return (int) EVENTS_RELEASE.invokeExact(events, count);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int memoryAllocate(long size, int flags, MemorySegment view) {
        try {
            return (int) MEMORY_ALLOCATE.invokeExact(size, flags, view);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int memoryView(long memory, MemorySegment view) {
        try {
            return (int) MEMORY_VIEW.invokeExact(memory, view);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int memoryRetain(long memory, MemorySegment another) {
        try {
            return (int) MEMORY_RETAIN.invokeExact(memory, another);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int memoryRelease(long memory) {
        try {
            return (int) MEMORY_RELEASE.invokeExact(memory);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int memorySeal(long memory) {
        try {
            return (int) MEMORY_SEAL.invokeExact(memory);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int channelFind(long plugin, MemorySegment name, MemorySegment channel) {
        try {
            return (int) CHANNEL_FIND.invokeExact(plugin, name, channel);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int channelCall(
            long channel,
            MemorySegment data,
            long size,
            long memory,
            MemorySegment attachments,
            long count,
            MemorySegment into,
            long room,
            MemorySegment answer) {
        try {
            return (int) CHANNEL_CALL.invokeExact(channel, data, size, memory, attachments, count, into, room, answer);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int waiterNew(MemorySegment waiter) {
        try {
            return (int) WAITER_NEW.invokeExact(waiter);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int waiterFree(long waiter) {
        try {
            return (int) WAITER_FREE.invokeExact(waiter);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int waiterWatch(long waiter, long plugin) {
        try {
            return (int) WAITER_WATCH.invokeExact(waiter, plugin);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int waiterWake(long waiter) {
        try {
            return (int) WAITER_WAKE.invokeExact(waiter);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int waiterWait(
            long waiter, int timeoutMs, MemorySegment returned, long capacity, MemorySegment count) {
        try {
            return (int) WAITER_WAIT.invokeExact(waiter, timeoutMs, returned, capacity, count);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }

    public static int waiterLend(long waiter, MemorySegment data, long size, int flags, long tag, MemorySegment view) {
        try {
            return (int) WAITER_LEND.invokeExact(waiter, data, size, flags, tag, view);
        } catch (Throwable problem) {
            throw toUnchecked(problem);
        }
    }
}
