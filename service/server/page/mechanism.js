// Draws a rig at given joint positions, from the outline that the service makes of its rig file.
"use strict";

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const turned = (rows, v) => rows.map(row => dot(row, v));

const kAtRest = { rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], shift: [0, 0, 0] };
const move = (motion, point) => add(turned(motion.rows, point), motion.shift);

// Returns the motion "first `inner`, then `outer`".
function combine(outer, inner) {
  const column = k => turned(outer.rows, inner.rows.map(row => row[k]));
  const columns = [column(0), column(1), column(2)];
  return { rows: [0, 1, 2].map(r => columns.map(c => c[r])), shift: move(outer, inner.shift) };
}

// Returns the motion of a joint's child relative to its parent, from the joint's zero.
function jointMotion(joint, position) {
  const q = joint.sign * position;
  if (joint.kind === "fixed") return kAtRest;
  if (joint.kind === "slides") return { rows: kAtRest.rows, shift: times(joint.axis, q) };
  const [x, y, z] = joint.axis, c = Math.cos(q), s = Math.sin(q), d = 1 - c;
  const rows = [[c + x * x * d, x * y * d - z * s, x * z * d + y * s],
                [y * x * d + z * s, c + y * y * d, y * z * d - x * s],
                [z * x * d - y * s, z * y * d + x * s, c + z * z * d]];
  return { rows, shift: minus(joint.point, turned(rows, joint.point)) };
}

// Solves a small symmetric system by elimination.
function solve(matrix, right) {
  const n = right.length, rows = matrix.map((row, k) => [...row, right[k]]);
  for (let k = 0; k < n; ++k) {
    for (let r = k + 1; r < n; ++r) {
      const factor = rows[r][k] / rows[k][k];
      for (let c = k; c <= n; ++c) rows[r][c] -= factor * rows[k][c];
    }
  }
  const x = new Array(n).fill(0);
  for (let k = n - 1; k >= 0; --k) {
    let sum = rows[k][n];
    for (let c = k + 1; c < n; ++c) sum -= rows[k][c] * x[c];
    x[k] = sum / rows[k][k];
  }
  return x;
}

class Mechanism {
  constructor(outline) {
    this.outline = outline;
    this.positions = outline.joints.map(joint => joint.start ?? 0);
    this.view = outline.views[0];
    const followers = new Set(outline.mimics.map(mimic => mimic.joint));
    // Joints whose positions follow from closed loops.
    this.dependent = outline.joints
        .map((joint, k) => k)
        .filter(k => outline.joints[k].kind !== "fixed" && !outline.joints[k].measured &&
                     !followers.has(k));
    this.box = null;
    this.growBox();
  }

  // Sets the positions of joints by name; others follow from mimics and loops.
  setPositions(byName) {
    this.outline.joints.forEach((joint, k) => {
      const position = byName[joint.name];
      if (joint.name && Number.isFinite(position)) this.positions[k] = position;
    });
    this.applyMimics();
    if (this.outline.loops.length > 0 && this.dependent.length > 0) this.closeLoops();
  }

  applyMimics() {
    for (const { joint, follows, ratio, offset } of this.outline.mimics) {
      this.positions[joint] = ratio * this.positions[follows] + offset;
    }
  }

  motions() {
    const motions = this.outline.bodies.map(() => kAtRest);
    this.outline.joints.forEach((joint, k) => {
      const parent = joint.parent < 0 ? kAtRest : motions[joint.parent];
      motions[joint.child] = combine(parent, jointMotion(joint, this.positions[k]));
    });
    return motions;
  }

  loopErrors() {
    const motions = this.motions();
    const place = (body, point) => body < 0 ? point : move(motions[body], point);
    return this.outline.loops.flatMap(
        loop => minus(place(loop.a, loop.pointA), place(loop.b, loop.pointB)));
  }

  // Finds the positions of the dependent joints by the Gauss-Newton method, from the last ones.
  closeLoops() {
    const step = 1e-6;
    for (let iteration = 0; iteration < 6; ++iteration) {
      const errors = this.loopErrors();
      if (errors.every(error => Math.abs(error) < 1e-6)) return;
      const columns = this.dependent.map(k => {
        const before = this.positions[k];
        this.positions[k] = before + step;
        this.applyMimics();
        const column = this.loopErrors().map((error, row) => (error - errors[row]) / step);
        this.positions[k] = before;
        return column;
      });
      const product = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);
      const matrix = columns.map(
          (a, r) => columns.map((b, c) => product(a, b) + (r === c ? 1e-9 : 0)));
      const change = solve(matrix, columns.map(column => -product(column, errors)));
      this.dependent.forEach((k, place) => { this.positions[k] += change[place]; });
      this.applyMimics();
    }
  }

  // Enlarges the visible area so that it contains the rig in every position of each single joint.
  growBox() {
    const start = [...this.positions];
    const include = point => {
      const flat = this.flat(point);
      this.box ??= { low: [...flat], high: [...flat] };
      for (const side of [0, 1]) {
        this.box.low[side] = Math.min(this.box.low[side], flat[side]);
        this.box.high[side] = Math.max(this.box.high[side], flat[side]);
      }
    };
    const includeAll = () => {
      for (const line of this.lines()) line.points.forEach(include);
      for (const joint of this.outline.joints) if (joint.parent < 0) include(joint.point);
    };
    includeAll();
    this.outline.joints.forEach((joint, k) => {
      for (let turn = 0; turn < 12 && joint.kind === "turns" && !this.outline.loops.length; ++turn) {
        this.positions[k] = turn * Math.PI / 6;
        this.applyMimics();
        includeAll();
      }
      this.positions = [...start];
    });
  }

  flat(point) { return [dot(this.view.right, point), -dot(this.view.up, point)]; }

  // Returns the lines of all bodies in the world.
  lines() {
    const motions = this.motions();
    return this.outline.bodies.map((body, k) => {
      const points = body.points.map(point => move(motions[k], point));
      const mass = body.mass && move(motions[k], body.mass);
      if (points.length > 2) points.push(points[0]);
      if (points.length === 1 && mass) points.push(mass);
      return { points, mass };
    });
  }

  draw(canvas) {
    const { context, width, height } = prepareCanvas(canvas);
    const lines = this.lines();
    for (const line of lines) {
      for (const flat of line.points.map(point => this.flat(point))) {
        for (const side of [0, 1]) {  // slides move out of the first box
          this.box.low[side] = Math.min(this.box.low[side], flat[side]);
          this.box.high[side] = Math.max(this.box.high[side], flat[side]);
        }
      }
    }
    const { low, high } = this.box, edge = 34;
    const scale = Math.min((width - 2 * edge) / Math.max(high[0] - low[0], 1e-6),
                           (height - 2 * edge) / Math.max(high[1] - low[1], 1e-6));
    const at = point => {
      const flat = this.flat(point);
      return [width / 2 + scale * (flat[0] - (low[0] + high[0]) / 2),
              height / 2 + scale * (flat[1] - (low[1] + high[1]) / 2)];
    };
    this.drawGround(context, at);
    context.lineCap = context.lineJoin = "round";
    for (const { points, mass } of lines) {
      context.strokeStyle = pageColour("--body");
      context.lineWidth = 7;
      context.beginPath();
      points.forEach((point, k) => context[k === 0 ? "moveTo" : "lineTo"](...at(point)));
      context.stroke();
      if (mass) this.drawDot(context, at(mass), 6, "--series-2");
    }
    for (const line of lines) {
      for (const point of line.points.slice(0, -1)) this.drawDot(context, at(point), 4.5, "--paper");
    }
  }

  drawDot(context, [x, y], radius, colour) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = pageColour(colour);
    context.strokeStyle = pageColour("--body");
    context.lineWidth = 1.5;
    context.fill();
    context.stroke();
  }

  // Draws a hatched plate, or the rail of a slide, at each joint on the ground.
  drawGround(context, at) {
    context.strokeStyle = pageColour("--ground");
    for (const joint of this.outline.joints) {
      if (joint.parent >= 0) continue;
      const [x, y] = at(joint.point);
      context.lineWidth = 3;
      context.beginPath();
      if (joint.kind === "slides") {
        const reach = 10;  // [m], beyond the picture
        context.moveTo(...at(minus(joint.point, times(joint.axis, reach))));
        context.lineTo(...at(add(joint.point, times(joint.axis, reach))));
      } else {
        context.moveTo(x - 18, y + 14);
        context.lineTo(x + 18, y + 14);
        context.moveTo(x, y);
        context.lineTo(x, y + 14);
        for (let k = -15; k <= 15; k += 7.5) {
          context.moveTo(x + k, y + 14);
          context.lineTo(x + k - 6, y + 21);
        }
      }
      context.lineWidth = 2;
      context.stroke();
    }
  }
}
