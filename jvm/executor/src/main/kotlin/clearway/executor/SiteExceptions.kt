// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

/**
 * Thrown if a site is asked for with other options than those that created it. The message names both.
 *
 * @property name name of the site
 * @property existing options of the existing site
 * @property requested options of the refused call
 */
public class SiteMismatchException
internal constructor(public val name: String, public val existing: SiteOptions, public val requested: SiteOptions) :
    IllegalArgumentException(
        "the site exists with other options: name=$name, existing=($existing), requested=($requested); " +
            differences(existing, requested)
    )

private fun differences(existing: SiteOptions, requested: SiteOptions): String =
    if (existing.ordered == requested.ordered) "they carry different thread-locals" else "only one of them is ordered"

/**
 * Thrown if a further site would exceed [sitesMax]. Names that are made from data, such as the id of a request, lead
 * here.
 *
 * @property name name of the refused site
 * @property sitesMax maximum number of named sites of an executor
 */
public class TooManySitesException internal constructor(public val name: String, public val sitesMax: Int) :
    IllegalStateException(
        "an executor keeps at most $sitesMax named sites: name=$name; name a site by the kind of its work, not by its data"
    )
