/** Events for clients that follow the log, and work in the background. */

export { BackgroundWork, type ForegroundRequest } from "../feed/background_work.ts";
export {
  EventCursor,
  type EventFilter,
  type EventPart,
  followedParts,
  NO_LINES,
} from "../feed/event_cursor.ts";
export {
  EventFeed,
  FEED_ID_PATTERN,
  feedPositionOf,
  jsonOf,
  messageOf,
  type Place,
} from "../feed/event_feed.ts";
export { Follower, Followers, FOLLOWERS_OF_KEY_LIMIT } from "../feed/followers.ts";
