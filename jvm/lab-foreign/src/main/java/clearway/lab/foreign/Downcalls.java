// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign;

import clearway.lab.jni.Peers;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.function.LongUnaryOperator;

/**
 * Calls C as the documentation of java.lang.foreign recommends. The method handles are static finals, so that the JIT
 * compiler treats them as constants.
 */
final class Downcalls {
    private static final SymbolLookup LIBRARY =
            SymbolLookup.libraryLookup(Path.of(System.getProperty(Peers.PROPERTY)), Arena.global());
    private static final MethodHandle FILL = Linker.nativeLinker()
            .downcallHandle(
                    LIBRARY.find("lab_fill").orElseThrow(),
                    FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    private static final MethodHandle ECHO = Linker.nativeLinker()
            .downcallHandle(
                    LIBRARY.find("lab_echo").orElseThrow(),
                    FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle ASK = Linker.nativeLinker()
            .downcallHandle(
                    LIBRARY.find("lab_ask").orElseThrow(),
                    FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));

    private Downcalls() {}

    /** Fills native memory in place. Blocks. */
    static void fill(MemorySegment segment, int value) {
        try {
            FILL.invokeExact(segment, segment.byteSize(), value);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible); // C throws nothing.
        }
    }

    /** Copies {@code size} bytes between two places in native memory. Blocks. */
    static void echo(MemorySegment from, MemorySegment to, long size) {
        try {
            ECHO.invokeExact(from, to, size);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /**
     * Returns a C function pointer that calls {@code answer}. {@code answer} must not throw: an exception would end the
     * JVM. The pointer is valid until the arena is closed.
     */
    static MemorySegment upcall(LongUnaryOperator answer, Arena arena) {
        try {
            MethodHandle target = MethodHandles.lookup()
                    .findVirtual(LongUnaryOperator.class, "applyAsLong", MethodType.methodType(long.class, long.class));
            FunctionDescriptor shape = FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
            return Linker.nativeLinker().upcallStub(target.bindTo(answer), shape, arena);
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible); // Cannot happen: the interface is the JDK's own.
        }
    }

    /** Makes C call an {@link #upcall} with a size, and returns the result of that call. Blocks. */
    static long ask(MemorySegment upcall, long size) {
        try {
            return (long) ASK.invokeExact(upcall, size);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
