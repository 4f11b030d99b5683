// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.jni;

/**
 * Counts the objects that all threads of this JVM allocate, through JVMTI (src/main/c/allocations.c). While nothing is
 * counted, the JVM allocates as it does without this class. One thread uses it.
 */
public final class Allocations {
    private static boolean prepared;

    private Allocations() {}

    /** Returns why this JVM cannot count and what to do, or null if it can. The first call loads the library. */
    public static String problem() {
        String problem = Peers.problem();
        if (problem != null) return problem;
        if (!prepared) {
            Peers.load();
            int error = prepare();
            if (error != 0) return "this JVM cannot report its allocations (JVMTI error " + error + "): use OpenJDK";
            prepared = true;
        }
        return null;
    }

    /** Asks the JVM for events. Returns 0, or the error of JVMTI. */
    private static native int prepare();

    /** Begins to count. Each allocation is then reported, which makes it slow. */
    public static native void begin();

    /** Sets the count to 0. */
    public static native void reset();

    /** Returns the number of objects since {@link #reset}. */
    public static native long counted();

    /** Ends the counting. */
    public static native void end();
}
