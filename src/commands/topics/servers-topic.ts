import type { HelpRow } from "../../results/help.ts";
import type { Topic } from "./help-topics.ts";

const SINCE_ZOOKEEPER: readonly HelpRow[] = [
  { term: "3.4", summary: "znodes, ACLs, transactions, watches that fire once, locks" },
  {
    term: "3.5",
    summary:
      "create2 (the stat of a new znode; before: create and stat), removeWatches, reconfig, config",
  },
  { term: "3.5.1", summary: "createContainer (before: lock paths are persistent)" },
  { term: "3.5.3", summary: "createTtl" },
  {
    term: "3.6",
    summary:
      "multiRead (before: one read after the other), addWatch, setWatches2, getEphemerals and " +
      "getAllChildrenNumber (before: every znode is looked at)",
  },
  { term: "3.7", summary: "whoAmI" },
];

const SINCE_KEEPER: readonly HelpRow[] = [
  { term: "22.10", summary: "multiRead" },
  { term: "23.7", summary: "reconfig, if enable_reconfiguration is on; feature flags" },
  {
    term: "25.12",
    summary: "addWatch, removeWatches, checkWatches, setWatches, setWatches2",
  },
  { term: "26.7", summary: "createContainer, create2" },
  { term: "never", summary: "createTtl, getEphemerals, getAllChildrenNumber, whoAmI" },
];

/** `help servers`. A test compares it with what the session layer asks servers for. */
export const serversTopic: Topic = {
  name: "servers",
  summary: "what works on which ZooKeeper, and on ClickHouse Keeper",
  sections: () => [
    {
      text:
        "zksh asks no server for an operation that it lacks, because servers close the connection " +
        "then. It does something else, or says so with exit code 1. The release comes from srvr; a " +
        "server that does not answer it is taken for a current ZooKeeper.",
    },
    { title: "Apache ZooKeeper, from this release on", rows: SINCE_ZOOKEEPER },
    { title: "ClickHouse Keeper, from this release on", rows: SINCE_KEEPER },
    {
      text:
        "A feature flag of the Keeper (/keeper/feature_flags) can switch multiRead, persistent " +
        "watches and create2 off. Everything that is not listed works on all releases.",
    },
    {
      title: "Other things on ClickHouse Keeper",
      rows: [
        {
          term: "sessions",
          summary:
            "end with their connection: no server resumes them. A lock is lost when the connection " +
            "breaks, and its command is stopped (exit code 120); the ticket stays until the server " +
            "has expired the session",
        },
        {
          term: "session timeout",
          summary: "10 s to 100 s, unless the server is told otherwise",
        },
        {
          term: "--keeper-password-file",
          summary: "the password that the server asks every client for, of at most 16 bytes",
        },
        {
          term: "ACLs",
          summary:
            "digest and auth; other entries may be left out without an error, so that a znode is " +
            "open to all: create and setAcl read the ACL back and warn",
        },
        { term: "quotas, --exact, SASL", summary: "not there" },
        { term: "config", summary: "is read from /keeper/config, from 23.7 on" },
        {
          term: "words",
          summary:
            "a four-letter word that is not in four_letter_word_white_list gets no answer at all",
        },
      ],
    },
  ],
};
