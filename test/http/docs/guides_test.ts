import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { escape } from "@std/html/entities";
import { GUIDES } from "../../../src/http/docs/guides.ts";
import { ERRORS } from "../../../src/http/errors.ts";
import { htmlText } from "../../support/html_text.ts";
import { hasCommand, permitted } from "../../support/permitted.ts";
import { runSample } from "../../support/run_sample.ts";
import { serveOnSocket } from "../../support/test_each_way.ts";
import { openTestService } from "../../support/test_service.ts";
