/** The page: its header, its parts and its messages. */

import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ActivityPage } from "./activity/activity_page.tsx";
import { wanted } from "./data/animals.ts";
import { AnimalList } from "./list/animal_list.tsx";
import { AnimalPage } from "./animal/animal_page.tsx";
import { connectionProblem } from "./parts/connection.ts";
import { changesWait } from "./parts/count_words.ts";
import { CategoriesPage } from "./categories/categories_page.tsx";
import { ask, Dialogs } from "./parts/dialog.tsx";
import { focusHome } from "./parts/focus.ts";
import { KeyMenu } from "./key_menu.tsx";
import { openMergeDialog } from "./animal/move_dialog.tsx";
import { Messages } from "./parts/messages.tsx";
import {
  addressOf,
  animalId,
  isListShown,
  isRemovedShown,
  onFollow,
  PAGES,
  shownPage,
  showPage,
} from "./navigation/navigation.ts";
import { RemovedList } from "./list/removed_list.tsx";
import { SelectionBar } from "./list/selection_bar.tsx";
import { apiKey, keyProblem, signOut } from "./data/session.ts";
import { useShortcuts } from "./shortcuts.tsx";
import { SignInDialog, SignInPage } from "./sign_in.tsx";
import { Toolbar } from "./list/toolbar.tsx";
import { hasUnsaved } from "./data/unsaved.ts";
import { adding, changing } from "./data/write_animal.ts";

export function App(): JSX.Element {
  const hasKey = apiKey.value !== undefined;
  const isAsking = hasKey && keyProblem.value !== undefined;
  return (
    <>
      {hasKey && isListShown.value && (
        <a class="skip" href="#animals" onClick={skip}>Skip to the animals</a>
      )}
      <Header />
      {hasKey && <Store />}
      {!hasKey && <SignInPage />}
      {isAsking && <SignInDialog />}
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  focusHome();
}

function Header(): JSX.Element {
  const hasKey = apiKey.value !== undefined;
  const header = useRef<HTMLElement>(null);
  return (
    <header ref={header}>
      <img src="docs/icon.svg" alt="" width="28" height="28" />
      <h1 class="title">Animal Store</h1>
      {hasKey && <Connection header={header} />}
      {hasKey && <PageLink page="categories" />}
      {hasKey && <PageLink page="activity" />}
      {hasKey && <KeyMenu onSignOut={askToSignOut} />}
    </header>
  );
}

function PageLink({ page }: { page: keyof typeof PAGES }): JSX.Element {
  return (
    <a
      href={addressOf(wanted.value, page)}
      aria-current={shownPage.value === page ? "page" : undefined}
      onClick={onFollow(() => showPage(page))}
    >
      {PAGES[page]}
    </a>
  );
}

async function askToSignOut(): Promise<void> {
  const isSure = !hasUnsaved.value || await ask({
    title: "Sign out?",
    text: "Something is not saved yet, and would be lost.",
    no: "Stay",
    yes: "Sign out",
  });
  if (isSure) signOut();
}

/** A dot, which turns amber while the service does not respond, and gets words if it has not. */
function Connection({ header }: { header: RefObject<HTMLElement | null> }): JSX.Element {
  const problem = connectionProblem.value;
  const changesWaiting = changing.value.size + adding.value;
  const isAway = problem !== undefined && problem !== "";
  useRowsKept(header, isAway, changesWaiting);
  if (!isAway) {
    const state = problem === undefined ? "Connecting …" : "Connected";
    return (
      <p
        class={problem === undefined ? "connection connecting" : "connection"}
        role="status"
        title={state}
      >
        <span class="unseen">{state}</span>
      </p>
    );
  }
  return (
    <p class="connection away" role="status">
      {problem}
      {changesWaiting > 0 && ` ${changesWait(changesWaiting)} to be saved.`}
    </p>
  );
}

/** The words may make the header higher. If it is not on the screen, what is there keeps its place. */
function useRowsKept(header: RefObject<HTMLElement | null>, ...causes: unknown[]): void {
  const before = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    const height = header.current!.getBoundingClientRect().height;
    const more = height - (before.current ?? height);
    before.current = height;
    if (scrollY >= height) scrollBy(0, more);
  }, causes);
}

function Store(): JSX.Element {
  const id = animalId.value;
  useShortcuts();
  return (
    <main>
      {(isListShown.value || isRemovedShown.value) && (
        <section aria-label="Animals">
          <Toolbar />
          {isListShown.value ? <AnimalList /> : <RemovedList />}
        </section>
      )}
      {shownPage.value === "categories" && <CategoriesPage onMove={openMergeDialog} />}
      {shownPage.value === "activity" && <ActivityPage />}
      {id !== undefined && <AnimalPage key={id} id={id} />}
      <div class="floating">
        <SelectionBar />
        <Messages />
        <Dialogs />
      </div>
    </main>
  );
}
