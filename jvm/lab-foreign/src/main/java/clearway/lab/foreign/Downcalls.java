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
import java.nio.file.Path;

/** C called as java.lang.foreign's documentation has it: handles in static finals, which the compiler sees through. */
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

    private Downcalls() {}

    /** Fills native memory in place. Blocks. */
    static void fill(MemorySegment segment, int value) {
        try {
            FILL.invokeExact(segment, segment.byteSize(), value);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible); // C throws nothing.
        }
    }

    /** Copies so many bytes from the start of one place in native memory to that of another. Blocks. */
    static void echo(MemorySegment from, MemorySegment to, long size) {
        try {
            ECHO.invokeExact(from, to, size);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
