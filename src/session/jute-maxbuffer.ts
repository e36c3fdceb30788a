/** ZooKeeper's default for jute.maxbuffer: the largest request, and the largest list of names. */
export const JUTE_MAXBUFFER = 1_048_575;

/** From this part of jute.maxbuffer on, a znode or a list of children is named as near the limit. */
export const NEAR_LIMIT = 0.7;
