import {
  isWrite,
  type KeyInUse,
  type Operation,
  subjectOf,
  type WriteOperation,
} from "./history.ts";

const QUERY_NAMES = ["lastEventId", "limit", "timeout", "cursor"]
  .concat("type", "status", "categoryId", "order", "ids", "name", "removed");

const PATHS = { pet: "pets", category: "categories" };

const METHODS: Record<WriteOperation["kind"], string> = {
  create: "POST",
  update: "PATCH",
  remove: "DELETE",
  restore: "POST",
  nameCategory: "PUT",
  removeCategory: "DELETE",
};

/** The request of an operation. */
export function requestOf(operation: Operation, { token }: KeyInUse): Request {
  const url = new URL(pathOf(operation), "http://localhost/v1/");
  const headers = new Headers({ authorization: `Bearer ${token}` });
  const setHeader = (name: string, value?: string) => value && headers.set(name, value);
  if (isWrite(operation)) {
    setHeader("idempotency-key", operation.idempotencyKey);
    if (operation.kind !== "create") {
      setHeader("if-match", operation.ifMatch);
      setHeader("if-none-match", operation.ifNoneMatch);
    }
    const [type, body] = contentOf(operation);
    setHeader("content-type", type);
    return new Request(url, { method: METHODS[operation.kind], headers, body });
  }
  setHeader("if-none-match", operation.cached?.etag);
  if (operation.kind === "events") {
    setHeader("accept", operation.isStream ? "text/event-stream" : undefined);
    setHeader("last-event-id", operation.resumes);
  }
  const values: Record<string, unknown> = { ...operation };
  for (const name of QUERY_NAMES) {
    const value = values[name];
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return new Request(url, { headers });
}

function pathOf(operation: Operation): string {
  if (operation.kind === "events") return "events";
  const path = PATHS[subjectOf(operation)];
  if (!("id" in operation)) return path;
  const isRestore = operation.kind === "restore";
  return `${path}/${operation.id}${isRestore ? "/restore" : ""}`;
}

function contentOf(operation: WriteOperation): [type?: string, body?: string] {
  switch (operation.kind) {
    case "create": {
      const { name, status, categoryId } = operation;
      return ["application/json", JSON.stringify({ name, status, categoryId })];
    }
    case "update":
      return ["application/merge-patch+json", JSON.stringify(operation.patch)];
    case "nameCategory":
      return ["application/json", JSON.stringify({ name: operation.name })];
    default:
      return [];
  }
}
