// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/**
 * Caches the texts of map keys by their bytes. Many messages contain the same few keys. A cached text needs no new
 * memory and already has its hash. The hash of a text selects its slot in the cache. A new text replaces the old text
 * in its slot, so the cache cannot grow. Only one thread at a time may use a cache.
 */
internal class KeyCache {
    private val texts = arrayOfNulls<String>(PLACES)

    /** Returns the text of ASCII bytes. Returns null if a byte is not ASCII or there are more than [SIZE_MAX] bytes. */
    fun text(bytes: ByteArray, start: Int, size: Int): String? {
        if (size > SIZE_MAX) return null
        // This loop computes the hash that `String.hashCode` returns for the text.
        var hash = 0
        var all = 0
        for (at in start until start + size) {
            val byte = bytes[at].toInt()
            all = all or byte
            hash = hash * 31 + byte
        }
        if (all < 0) return null
        val place = (hash xor (hash ushr 9)) and (PLACES - 1)
        val known = texts[place]
        if (known != null && known.hashCode() == hash && known.length == size && same(known, bytes, start)) return known
        val text = String(bytes, start, size, Charsets.ISO_8859_1)
        texts[place] = text
        return text
    }

    private fun same(text: String, bytes: ByteArray, start: Int): Boolean {
        for (at in text.indices) if (text[at].code != bytes[start + at].toInt()) return false
        return true
    }

    private companion object {
        /**
         * The number of slots: enough for the field names of several dozen classes. Their references take about 2 KiB.
         */
        const val PLACES = 512

        /**
         * Maximum size of a cached text, in bytes. Most field names are shorter. Comparing a longer text costs as much
         * as creating it.
         */
        const val SIZE_MAX = 32
    }
}
