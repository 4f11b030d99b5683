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

    private Downcalls() {}

    /** Fills native memory in place. Blocks. */
    static void fill(MemorySegment segment, int value) {
        try {
            FILL.invokeExact(segment, segment.byteSize(), value);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible); // C throws nothing.
        }
    }
}
