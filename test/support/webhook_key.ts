/** A `WEBHOOK_KEY` of services in tests. */
export const WEBHOOK_KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
