import{c as a,d as b}from"/console/assets/chunk-JZDN5C7T.js";import"/console/assets/chunk-IUDYS3T3.js";import"/console/assets/chunk-5GSI6YYB.js";export{b as read,a as signedBody};
