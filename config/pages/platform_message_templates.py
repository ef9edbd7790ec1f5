"""Templates of the API's messages about platforms, such as why a post failed, by which pages translate them.

As in config/pages/message_templates.py; what a platform itself has answered stays as the platform wrote it. Of templates that
fit the same message, the first counts.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

# Around another message, which is translated as well. They come before all other templates.
TEMPLATES_AROUND_MESSAGES = (
    gettext_noop("Segment 1 was published; it is not known whether segment 2 was: %(problem)s"),
    gettext_noop("Segment 1 was published; segment 2 was not: %(problem)s"),
    gettext_noop("Segments 1 and 2 were published; it is not known whether segment 3 was: %(problem)s"),
    gettext_noop("Segments 1 and 2 were published; segment 3 was not: %(problem)s"),
    gettext_noop("Segments 1 to %(last)s were published; it is not known whether segment %(next)s was: %(problem)s"),
    gettext_noop("Segments 1 to %(last)s were published; segment %(next)s was not: %(problem)s"),
    gettext_noop("%(problem)s An earlier attempt may have been published."),
    gettext_noop("An earlier attempt may have been published and cannot be repeated: %(problem)s"),
    gettext_noop("The platform refuses tokens that it has just issued: %(problem)s"),
    gettext_noop(
        "%(problem)s YouTube keeps the video private, as it does until Google has audited the operator's application."
    ),
    gettext_noop("%(problem)s YouTube has not finished processing the video."),
    gettext_noop("The first comment was not created. %(problem)s"),
    gettext_noop("The video has no thumbnail of its own: %(problem)s"),
    gettext_noop("The thumbnail is not fetched from there: %(problem)s"),
    gettext_noop("TikTok does not say what became of the video: %(problem)s"),
)
PLATFORM_TEMPLATES = (
    gettext_noop("A Bluesky post accepts %(most)s images or one video."),
    gettext_noop("Bluesky accepts no video of this account now: %(answer)s"),
    gettext_noop("Discord refuses the webhook: %(answer)s"),
    gettext_noop("Facebook lets a page publish %(most)s reels in 24 hours, and the page has published %(number)s."),
    gettext_noop("Give a whole number of minutes from %(least)s to %(most)s, in steps of %(step)s."),
    gettext_noop("Give a whole number of minutes from %(least)s to %(most)s."),
    gettext_noop("Google does not let this service use YouTube's API: %(answer)s"),
    gettext_noop("Instagram lets the account publish %(most)s posts in 24 hours, and it has published %(number)s."),
    gettext_noop("LinkedIn does not let this login act for the account: %(answer)s"),
    gettext_noop("LinkedIn does not let this login comment: %(answer)s"),
    gettext_noop("LinkedIn has retired the version of its API that this service uses: %(answer)s"),
    gettext_noop(
        "LinkedIn lets this account comment only with the scope %(scope)s, which was not granted. Once the service's "
        "application at LinkedIn has that scope, connect the account again."
    ),
    gettext_noop("Pinterest gives this service trial access only: %(answer)s"),
    gettext_noop("Slack accepts files only in channels that the app is a member of: %(answer)s"),
    gettext_noop("Slack does not accept the operator's app as it is set up: %(answer)s"),
    gettext_noop("Slack does not let the app post to the channel: %(answer)s"),
    gettext_noop("Slack does not let the webhook post to the channel: %(answer)s"),
    gettext_noop("Slack no longer accepts the app: %(answer)s"),
    gettext_noop("Slack no longer accepts the webhook: %(answer)s"),
    gettext_noop("Slack no longer shows the file of the message: %(answer)s"),
    gettext_noop("Telegram may have sent a part of the album: %(answer)s"),
    gettext_noop("Telegram refuses the bot: %(answer)s"),
    gettext_noop("The account has no board of this name; it has %(boards)s and %(number)s more."),
    gettext_noop("The account has no board of this name; it has %(boards)s."),
    gettext_noop("The account is %(status)s, so it cannot be checked whether the post was published."),
    gettext_noop("The account's server does not list this post, but it may not list any %(visibility)s posts at all."),
    gettext_noop("The operator of this service has not set %(settings)s, which LinkedIn needs for member profiles."),
    gettext_noop("The operator of this service has not set %(settings)s, which LinkedIn needs for pages."),
    gettext_noop(
        "The operator of this service has not set %(settings)s for member profiles, nor %(page_settings)s for pages."
    ),
    gettext_noop("The operator of this service has not set %(settings)s."),
    gettext_noop("The post could not be published within %(hours)s hours of its time."),
    gettext_noop("The post has no link card: the page at %(host)s %(reason)s."),
    gettext_noop("The tags count %(number)s characters; YouTube accepts %(most)s."),
    gettext_noop("The thumbnail is larger than %(most)s bytes."),
    gettext_noop("The video has %(seconds)s seconds; the creator may post %(most)s."),
    gettext_noop("There is no JPEG or PNG file at the thumbnail's address: it answered %(status)s."),
    gettext_noop("These media assets were deleted: %(files)s."),
    gettext_noop("TikTok did not publish it: %(reason)s."),
    gettext_noop("TikTok does not let the creator post: %(answer)s"),
    gettext_noop("X accepts nothing more from this service, because its credits or allowance are used up: %(answer)s"),
    gettext_noop("X does not let this service use its API: %(answer)s"),
    gettext_noop("YouTube does not say whether it has the whole video: %(answer)s"),
    gettext_noop("YouTube received the video and does not show it: %(reason)s"),
    gettext_noop("%(platform)s answered %(status)s and may have published %(what)s."),
    gettext_noop("%(platform)s answered %(status)s: %(answer)s"),
    gettext_noop("%(platform)s answered %(status)s."),
    gettext_noop("%(platform)s answered success without an access token."),
    gettext_noop("%(platform)s could not be reached."),
    gettext_noop("%(platform)s could not prepare the post: %(answer)s"),
    gettext_noop("%(platform)s could not process %(what)s: %(answer)s"),
    gettext_noop("%(platform)s did not renew the access: %(answer)s"),
    gettext_noop("%(platform)s did not say whether it published %(what)s."),
    gettext_noop("%(platform)s does not accept GIFs."),
    gettext_noop("%(platform)s does not accept documents."),
    gettext_noop("%(platform)s does not accept images."),
    gettext_noop("%(platform)s does not accept videos."),
    gettext_noop("%(platform)s does not accept this service's app: %(answer)s"),
    gettext_noop("%(platform)s does not accept this service's client id or secret."),
    gettext_noop("%(platform)s does not accept %(what)s: %(answer)s"),
    gettext_noop("%(platform)s does not let this service act for the account: %(answer)s"),
    gettext_noop("%(platform)s does not let this service read %(what)s: %(answer)s"),
    gettext_noop("%(platform)s no longer accepts the access token: %(answer)s"),
    gettext_noop("%(platform)s no longer accepts the access token."),
    gettext_noop("%(platform)s no longer gives access to this account, and the service cannot renew it."),
    gettext_noop("%(platform)s refuses the account: %(answer)s"),
    gettext_noop("%(platform)s says that the access to this account has ended."),
    gettext_noop("%(platform)s's rate limit is reached: %(answer)s"),
    # Values of the templates above.
    gettext_noop("answered %(status)s"),
    gettext_noop("redirects more than %(most)s times"),
    gettext_noop("the alt text of %(file)s"),
    gettext_noop("the scopes %(scopes)s, or %(wide_scopes)s if the server has no narrower ones"),
)
# Marked here as in message_templates.WITHOUT_VALUES. Names of content, such as `this post`, are objects of a sentence.
PLATFORM_MESSAGES_WITHOUT_VALUES = (
    gettext_noop("A person checked: the post was not published."),
    gettext_noop("Nothing: the post was stopped."),
    gettext_noop("Retry the post if it should still be published."),
    gettext_noop("Retry the post to send it again."),
    gettext_noop("The account has no board of this name; it has none."),
    gettext_noop("The account's server does not list this post, but it may not list any of its visibility posts at all."),
    gettext_noop("The account's server does not list this post, but it may not list any direct posts at all."),
    gettext_noop("The account's server does not list this post, but it may not list any private posts at all."),
    gettext_noop("The bot may not post to this channel."),
    gettext_noop("The bot may not post to this chat."),
    gettext_noop("The platform has a matching post, but it belongs to another target."),
    gettext_noop("The post is published, so do not send it again. If needed, add what is missing at the platform."),
    gettext_noop("The post may be published: the worker that sent it did not learn the outcome."),
    gettext_noop("The service cannot read the account's credentials at the moment."),
    gettext_noop("The service failed before it published anything."),
    gettext_noop("The service failed while it renewed the account's tokens."),
    gettext_noop("The service failed while it searched for the post."),
    gettext_noop("The service failed while it was publishing."),
    gettext_noop("The service gave up after its last attempt; retry the post later."),
    gettext_noop("The worker died in every attempt to prepare this post."),
    gettext_noop("the alt text of the file"),
    gettext_noop("the media"),
    gettext_noop("the profile's replies"),
    gettext_noop("the profile's threads"),
)
# What a message has in the place of a platform's name or answer if the words are the service's own; others stay unchanged.
NO_REASON = gettext_noop("no reason given")
OWN_WORDS = frozenset(
    {
        gettext_noop("Bluesky's video service"),
        gettext_noop("Pinterest's video storage"),
        gettext_noop("The account's daily allowance is used up."),
        gettext_noop("The account's server"),
        gettext_noop("The server"),
        gettext_noop("The thumbnail's address"),
        NO_REASON,
    }
)
