// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.jni;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** The native functions of src/main/c/peers.c, through JNI. Each function blocks until its C function returns. */
public final class Peers {
    /**
     * The system property with the path of the native library. scripts/jvm-lab.mjs compiles the library and writes the
     * path to runner.json.
     */
    public static final String PROPERTY = "clearway.lab.peers";

    private Peers() {}

    /** Returns why the library is unavailable and how to build it, or null if it is available. */
    public static String problem() {
        String library = System.getProperty(PROPERTY);
        if (library != null && Files.exists(Path.of(library))) return null;
        return "the native peers are not compiled: with a C compiler on Linux (Debian: apt-get install gcc) run node scripts/jvm-lab.mjs";
    }

    /** Loads the library, once per process. Throws with the message of {@link #problem} if it is unavailable. */
    public static void load() {
        String problem = problem();
        if (problem != null) throw new IllegalStateException(problem);
        System.load(System.getProperty(PROPERTY));
    }

    /**
     * Fills C's own memory, and times the fills in C. Writes the time of each fill to {@code ns}, in ns, as the mean
     * over {@code batch} fills. Returns whether every byte was filled.
     */
    public static native boolean reference(long size, boolean fresh, long batch, double[] ns);

    /** Fills a direct buffer in place, from its start. */
    public static native void fillDirect(ByteBuffer buffer, long size, int value);

    /** Fills a copy of the array, and copies it back. */
    public static native void fillElements(byte[] array, int value);
}
