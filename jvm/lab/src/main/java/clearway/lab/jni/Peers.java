// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.jni;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongUnaryOperator;
import java.util.function.UnaryOperator;

/** The native peers by JNI, src/main/c/peers.c. All of them block for as long as the C takes. */
public final class Peers {
    /** Names the library; scripts/jvm-lab.mjs compiles it, and says so in runner.json. */
    public static final String PROPERTY = "clearway.lab.peers";

    private Peers() {}

    /** Why they cannot be called here, and what to do; null where they can. */
    public static String problem() {
        String library = System.getProperty(PROPERTY);
        if (library != null && Files.exists(Path.of(library))) return null;
        return "the native peers are not compiled: with a C compiler on Linux (Debian: apt-get install gcc) run node scripts/jvm-lab.mjs";
    }

    /** Loads the library, once a process. Throws where {@link #problem} says why. */
    public static void load() {
        String problem = problem();
        if (problem != null) throw new IllegalStateException(problem);
        System.load(System.getProperty(PROPERTY));
    }

    /** Fills memory of C's own; {@code ns} gets the time of each, the mean of {@code batch}. Returns whether all was filled. */
    public static native boolean reference(long size, boolean fresh, long batch, double[] ns);

    /** Fills a direct buffer in place, from its start. */
    public static native void fillDirect(ByteBuffer buffer, long size, int value);

    /** Fills a copy of the array, which is then copied back. */
    public static native void fillElements(byte[] array, int value);

    /** Fills the array in place. */
    public static native void fillCritical(byte[] array, int value);

    /** Answers with a new array of the same bytes. */
    public static native byte[] echoArray(byte[] message);

    /** Copies so many bytes from the start of one direct buffer to that of another. */
    public static native void echoDirect(ByteBuffer from, ByteBuffer to, long size);

    /** C sends the message on to {@code answer}, in an array of its own, looks at what it gives, and returns that. */
    public static native byte[] askArray(byte[] message, UnaryOperator<byte[]> answer);

    /** C asks with the size of what stands in a place that both know, and returns the size of the answer there. */
    public static native long askDirect(long size, LongUnaryOperator answer);
}
