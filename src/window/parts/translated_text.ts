/**
 * Lets a browser translate the page. A translator replaces the texts that the page has drawn and will draw again, so each
 * text returns, empty, behind its translation, which goes when the text changes.
 */

interface Translated {
  translation: ChildNode;
  /** The text before its translation. */
  words: string;
}

/** Follows the texts in an element. */
export function keepTexts(root: Node): void {
  const translated = new WeakMap<Text, Translated>();
  /** The texts by their translations. */
  const texts = new WeakMap<Node, Text>();
  const observer = new MutationObserver((records) => records.forEach(follow));
  observer.observe(root, { subtree: true, childList: true, characterData: true });

  function follow(record: MutationRecord): void {
    if (record.target instanceof Text) followChange(record.target);
    for (const node of record.removedNodes) {
      if (node instanceof Text) followRemoval(node, record);
      else followOriginal(node);
    }
  }

  function followChange(text: Text): void {
    if (text.data !== "") endTranslation(text);
  }

  function followRemoval(text: Text, { addedNodes, previousSibling, nextSibling }: MutationRecord) {
    if (text.isConnected) return;
    endTranslation(text);
    const beside = [...addedNodes, previousSibling, nextSibling];
    const translation = beside.find((node) => node?.nodeName === "FONT" && !texts.has(node));
    if (translation?.isConnected) putBehind(text, translation as ChildNode);
  }

  function putBehind(text: Text, translation: ChildNode): void {
    translated.set(text, { translation, words: text.data });
    texts.set(translation, text);
    text.data = "";
    translation.after(text);
  }

  function endTranslation(text: Text): void {
    translated.get(text)?.translation.remove();
    translated.delete(text);
  }

  /** The translator has removed a translation, so that the reader sees the original. */
  function followOriginal(node: Node): void {
    const text = texts.get(node);
    const known = text && translated.get(text);
    if (text === undefined || known?.translation !== node) return;
    translated.delete(text);
    if (text.data === "") text.data = known.words;
  }
}
