// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.channel.Caller
import clearway.lab.channel.Crossing
import clearway.lab.channel.Row
import clearway.lab.memory.Filler

/**
 * The ways that need java.lang.foreign. Module lab-foreign has them, which is compiled only where a JDK has that; it is
 * found as a service. Its methods are called on JDK 22 and up alone.
 */
public interface ForeignPeers {
    /** Opens a way to fill a buffer, by a name of [Foreign.fillers]. Throws where it cannot, naming what is missing. */
    public fun filler(mechanism: String, bytes: Int): Filler

    /** Opens a way for bytes to C and back, by hand. Throws as [filler] does. */
    public fun crossing(mechanism: String): Crossing

    /** Opens a channel to a plugin. Throws as [filler] does. */
    public fun caller(mechanism: String, row: Row): Caller
}
