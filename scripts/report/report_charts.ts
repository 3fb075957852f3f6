/**
 * Draws the charts of the report as SVG, without a browser. The charts take their colours from CSS variables
 * of the page, so that they follow its light or dark form.
 */

import { count } from "../cli/count.ts";

/** Only the report downloads and loads the library: its lock file is `scripts/report/report.lock`. */
const LIBRARY = "npm:echarts@6.1.0/dist/echarts.esm.min.mjs";

/** The used part of the library. */
interface ECharts {
  init(
    element: null,
    theme: null,
    options: { renderer: "svg"; ssr: true; width: number; height: number },
  ): { setOption(option: object): void; renderToSVGString(): string; dispose(): void };
}

/** The values of a chart, in the order in which it shows them. */
export type Values = [label: string, value: number][];

/** Vertical bars and an area are for values over time; horizontal bars show their values. */
export type ChartKind = "vertical bars" | "area" | "horizontal bars";

/** Draws one chart. */
export type DrawChart = (kind: ChartKind, values: Values) => string;

/** Sizes in pixels of a chart that fills a narrow window. */
const WIDTH = 400;
const TIME_HEIGHT = 200;
const BAR_HEIGHT = 34;

const FONT = { fontFamily: "system-ui, sans-serif", fontSize: 13 };
const MUTED = { color: "var(--muted)", ...FONT };
const COLOR = { color: "var(--series)" };

/** Loads the library. Rejects if it is not there and cannot be downloaded. */
export async function loadCharts(): Promise<DrawChart> {
  // Not a literal, because Deno would otherwise look for the package in the lock file of every program.
  const library: ECharts = await import(LIBRARY).catch((cause) => {
    throw new Error("Cannot load the chart library; the first report needs the npm registry", {
      cause,
    });
  });
  return (kind, values) => {
    const isHorizontal = kind === "horizontal bars";
    const height = isHorizontal ? values.length * BAR_HEIGHT + 8 : TIME_HEIGHT;
    const chart = library.init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
    const option = isHorizontal ? horizontalBars(values) : overTime(kind, values);
    chart.setOption({ animation: false, textStyle: FONT, ...option });
    const svg = chart.renderToSVGString();
    chart.dispose();
    // The sizes and the behaviour under a pointer come from the page.
    return svg.replace(/^<svg width="\d+" height="\d+"/, "<svg")
      .replace(/<style[^]*?<\/style>/g, "");
  };
}

function overTime(kind: "vertical bars" | "area", values: Values): object {
  const bars = { type: "bar", barMaxWidth: 48 };
  // A line of one value would not be seen.
  const symbol = values.length === 1 ? "circle" : "none";
  const area = { type: "line", symbol, lineStyle: COLOR, areaStyle: { color: "var(--area)" } };
  return {
    grid: { left: 16, right: 36, top: 12, bottom: 0, containLabel: true },
    xAxis: { ...labelsOf(values), axisLabel: { ...MUTED, hideOverlap: true } },
    yAxis: {
      type: "value",
      minInterval: 1,
      splitNumber: 4,
      splitLine: { lineStyle: { color: "var(--grid)" } },
      axisLabel: { ...MUTED, formatter: count },
    },
    series: [{ ...(kind === "area" ? area : bars), ...numbersOf(values) }],
  };
}

/** Horizontal bars, the first one at the top. */
function horizontalBars(values: Values): object {
  const name = { color: "var(--text)", ...FONT, width: 150, overflow: "truncate" };
  const formatter = ({ value }: { value: number }) => count(value);
  const label = { show: true, position: "right", color: name.color, textBorderWidth: 0, formatter };
  return {
    grid: { left: 24, right: 72, top: 4, bottom: 4, containLabel: true },
    xAxis: { type: "value", axisLabel: { show: false }, splitLine: { show: false } },
    yAxis: { ...labelsOf(values), inverse: true, axisLabel: name },
    series: [{ type: "bar", barWidth: "60%", label, ...numbersOf(values) }],
  };
}

function labelsOf(values: Values): object {
  const axisLine = { lineStyle: { color: "var(--line)" } };
  return {
    type: "category",
    data: values.map(([label]) => label),
    axisLine,
    axisTick: { show: false },
  };
}

function numbersOf(values: Values): object {
  return { silent: true, itemStyle: COLOR, data: values.map(([, value]) => value) };
}
